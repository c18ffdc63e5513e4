#include <inttypes.h>

#include "lib/store/postgres.h"
#include "sluicectl/doctor/doctor.h"

enum { OLDEST_VERSION = 150000 };

/** Columns of doctor.sql. */
enum {
    COLUMN_VERSION,
    COLUMN_COMMIT,
    COLUMN_FSYNC,
    COLUMN_PAGES,
    COLUMN_CONNECTIONS_MOST,
    COLUMN_CONNECTIONS_NOW,
    COLUMN_STANDBY,
    COLUMN_CLOCK,
    COLUMN_STANDBYS
};

static void check_writes(struct doctor *doctor, const PGresult *row)
{
    static const struct {
        int column;
        const char *name;
        const char *key;
        const char *what_to_do;
    } MUST_BE_ON[] = {
        {COLUMN_COMMIT, "postgres.synchronous-commit", "synchronous_commit",
         "Set synchronous_commit = on, also for the role and the database (ALTER ROLE … RESET "
         "synchronous_commit): with off a crash loses confirmed orders."},
        {COLUMN_FSYNC, "postgres.fsync", "fsync",
         "Set fsync = on: with off a power cut can destroy the database."},
        {COLUMN_PAGES, "postgres.full-page-writes", "full_page_writes",
         "Set full_page_writes = on: with off a power cut can destroy the database."},
    };

    for (size_t i = 0; i < sizeof(MUST_BE_ON) / sizeof(MUST_BE_ON[0]); i++) {
        struct str value = postgres_text(row, 0, MUST_BE_ON[i].column);
        doctor_check(doctor, MUST_BE_ON[i].name, !str_equal(value, STR("off")), FINDING_FAIL,
                     MUST_BE_ON[i].what_to_do, "%s is %.*s", MUST_BE_ON[i].key, STR_ARG(value));
    }
}

/* A server to fail over to must have every order that was confirmed to a member. */
static void check_standbys(struct doctor *doctor, size_t servers, struct str standbys)
{
    if (servers > 1) {
        doctor_check(doctor, "postgres.standbys", standbys.n > 0, FINDING_WARN,
                     "Set synchronous_standby_names on the primary, as ANY 1 (…): otherwise a "
                     "failover loses the last confirmed orders.",
                     "postgres_conninfo names %zu servers; a commit waits for %s", servers,
                     standbys.n > 0 ? "a standby" : "none but the primary");
    }
}

static void check_row(struct doctor *doctor, const PGresult *row, size_t servers)
{
    int64_t version = postgres_int(row, 0, COLUMN_VERSION, 0);
    int64_t most = postgres_int(row, 0, COLUMN_CONNECTIONS_MOST, 0);
    int64_t now = postgres_int(row, 0, COLUMN_CONNECTIONS_NOW, 0);
    bool standby = str_equal(postgres_text(row, 0, COLUMN_STANDBY), STR("t"));

    doctor_check(doctor, "postgres.version", version >= OLDEST_VERSION, FINDING_FAIL,
                 "Sluice needs PostgreSQL 15 or later.",
                 "PostgreSQL has version %" PRId64 ".%" PRId64, version / 10000, version % 10000);
    check_writes(doctor, row);
    doctor_check(
        doctor, "postgres.connections", now * 10 < most * 8, FINDING_WARN,
        "Raise max_connections or run fewer workers: a worker without a connection answers 503.",
        "%" PRId64 " of %" PRId64 " connections are used", now, most);
    doctor_check(doctor, "postgres.role", !standby, FINDING_FAIL,
                 "Name the primary in postgres_conninfo, or all of them with "
                 "target_session_attrs=read-write.",
                 standby ? "this PostgreSQL is a standby" : "this PostgreSQL accepts writes");
    check_standbys(doctor, servers, postgres_text(row, 0, COLUMN_STANDBYS));
    doctor_clock(doctor, "postgres.clock", "PostgreSQL's", postgres_int(row, 0, COLUMN_CLOCK, 0));
}

void doctor_postgres(struct doctor *doctor)
{
    const PGresult *row = NULL;

    if (!doctor->has_settings || doctor->settings.postgres_conninfo[0] == '\0') {
        return;
    }
    struct postgres *postgres =
        postgres_new(doctor->settings.postgres_conninfo, doctor->settings.statement_timeout_ms,
                     doctor->settings.lock_timeout_ms);
    const char *const *none = (const char *const[]){NULL};
    enum postgres_outcome outcome =
        postgres_query(postgres, doctor->arena, QUERY_DOCTOR, none, &row);
    if (outcome == POSTGRES_OK) {
        doctor_note(doctor, "postgres.reach", FINDING_OK, "", "PostgreSQL answers");
        check_row(doctor, row, postgres_servers(postgres));
    } else if (outcome == POSTGRES_REFUSED) {
        doctor_note(doctor, "postgres.reach", FINDING_FAIL,
                    "Bring the database up to this version: scripts/migrate.",
                    "PostgreSQL says: %s", postgres_message(postgres));
    } else {
        doctor_note(doctor, "postgres.reach", FINDING_FAIL,
                    "Start PostgreSQL, or correct postgres_conninfo; pg_isready and psql with the "
                    "same settings say more. Until then no one can order.",
                    "PostgreSQL cannot be reached: %s", postgres_message(postgres));
    }
    postgres_free(postgres);
}
