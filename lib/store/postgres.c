#include "lib/store/postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/random.h"
#include "lib/metrics/metrics.h"
#include "lib/store/postgres_hosts.h"
#include "lib/store/postgres_internal.h"
#include "lib/store/postgres_wire.h"
#include "lib/store/queries.h"

enum { BACKOFF_FIRST_MS = 50, BACKOFF_MOST_MS = 1000 };

struct postgres *postgres_new(const char *conninfo, int64_t statement_timeout_ms,
                              int64_t lock_timeout_ms)
{
    struct postgres *postgres = calloc(1, sizeof(*postgres));

    if (postgres == NULL) {
        abort();
    }
    postgres->hosts = postgres_hosts_new(conninfo);
    postgres->statement_timeout_ms = statement_timeout_ms;
    (void)snprintf(postgres->statement_timeout, sizeof(postgres->statement_timeout), "%lld",
                   (long long)statement_timeout_ms);
    (void)snprintf(postgres->lock_timeout, sizeof(postgres->lock_timeout), "%lld",
                   (long long)lock_timeout_ms);
    return postgres;
}

static void disconnect(struct postgres *postgres)
{
    PQfinish(postgres->connection);
    postgres->connection = NULL;
    memset(postgres->prepared, 0, sizeof(postgres->prepared));
}

void postgres_free(struct postgres *postgres)
{
    if (postgres != NULL) {
        disconnect(postgres);
        postgres_hosts_free(postgres->hosts);
        free(postgres);
    }
}

size_t postgres_servers(const struct postgres *postgres)
{
    return postgres_hosts_count(postgres->hosts);
}

static void copy_field(char *out, size_t size, const PGresult *result, int field)
{
    const char *text = result == NULL ? NULL : PQresultErrorField(result, field);

    (void)snprintf(out, size, "%s", text == NULL ? "" : text);
}

void postgres_remember(struct postgres *postgres, const PGresult *result)
{
    struct postgres_refusal *refusal = &postgres->refusal;

    copy_field(refusal->sqlstate, sizeof(refusal->sqlstate), result, PG_DIAG_SQLSTATE);
    copy_field(refusal->message, sizeof(refusal->message), result, PG_DIAG_MESSAGE_PRIMARY);
    copy_field(refusal->detail, sizeof(refusal->detail), result, PG_DIAG_MESSAGE_DETAIL);
}

static bool has_state(const struct postgres *postgres, const char *sqlstate)
{
    return strcmp(postgres->refusal.sqlstate, sqlstate) == 0;
}

enum attempt postgres_judge(struct postgres *postgres, enum wire wire, PGresult *result)
{
    ExecStatusType status = result == NULL ? PGRES_FATAL_ERROR : PQresultStatus(result);

    if (wire == WIRE_DONE && (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK)) {
        return ATTEMPT_DONE;
    }
    postgres_remember(postgres, result);
    const char *severity =
        result == NULL ? NULL : PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    bool fatal = severity != NULL && strcmp(severity, "FATAL") == 0;
    PQclear(result);
    if (wire != WIRE_DONE) {
        wire_forget_unsent(postgres->connection);
    }
    if (wire == WIRE_UNSENT) {
        disconnect(postgres);
        return ATTEMPT_STALE;
    }
    if (fatal && (has_state(postgres, "57P01") || has_state(postgres, "57P05"))) {
        /* The server is shutting down or ended an idle session, and sends this instead of a
         * commit. */
        disconnect(postgres);
        return ATTEMPT_STALE;
    }
    if (wire != WIRE_DONE || severity == NULL || fatal || *postgres->refusal.sqlstate == '\0' ||
        strncmp(postgres->refusal.sqlstate, "08", 2) == 0) {
        disconnect(postgres);
        return ATTEMPT_UNKNOWN;
    }
    bool read_only = has_state(postgres, "25006");
    if (read_only || has_state(postgres, "26000") || has_state(postgres, "0A000")) {
        /* The server takes no writes (any more), but another one may; or the prepared statement is
         * missing or outdated (a migration): nothing ran. */
        if (read_only) {
            log_event(LOG_LEVEL_WARNING, "postgres.read_only", LOG_NO_FIELDS);
        }
        disconnect(postgres);
        return ATTEMPT_STALE;
    }
    return ATTEMPT_REFUSED;
}

static enum attempt exchange(struct postgres *postgres, int queued, int64_t deadline,
                             PGresult **result)
{
    enum wire wire = WIRE_UNSENT;

    *result = NULL;
    if (queued == 1) {
        wire = wire_exchange(postgres->connection, deadline, result);
    }
    enum attempt attempt = postgres_judge(postgres, wire, *result);
    if (attempt != ATTEMPT_DONE) {
        *result = NULL;
    }
    return attempt;
}

static void connecting_failed(struct postgres *postgres, const char *why)
{
    metrics_add(METRIC_POSTGRES_NOT_CONNECTED, 1);
    if (postgres->backoff_ms == 0) {
        log_event(LOG_LEVEL_WARNING, "postgres.unreachable", LOG_FIELDS(LOG_TEXT("why", why)));
    }
    postgres->backoff_ms *= 2;
    if (postgres->backoff_ms < BACKOFF_FIRST_MS) {
        postgres->backoff_ms = BACKOFF_FIRST_MS;
    } else if (postgres->backoff_ms > BACKOFF_MOST_MS) {
        postgres->backoff_ms = BACKOFF_MOST_MS;
    }
    /* Jitter: many workers lose the server at the same moment and must not return together. */
    postgres->connect_after_ms = clock_monotonic_ms() + postgres->backoff_ms / 2 +
                                 random_below((uint32_t)postgres->backoff_ms / 2 + 1);
}

static bool connect_now(struct postgres *postgres, int64_t deadline)
{
    const struct query_text *start = query_text(QUERY_SESSION_START);
    const char *const values[] = {postgres->statement_timeout, postgres->lock_timeout};
    char why[256] = "the session could not be set up";
    PGresult *result = NULL;

    if (clock_monotonic_ms() < postgres->connect_after_ms) {
        return false;
    }
    postgres->connection = postgres_hosts_connect(postgres->hosts, deadline, why, sizeof(why));
    if (postgres->connection == NULL) {
        connecting_failed(postgres, why);
        return false;
    }
    int queued = PQsendQueryParams(postgres->connection, start->text, start->parameters, NULL,
                                   values, NULL, NULL, 0);
    if (exchange(postgres, queued, deadline, &result) != ATTEMPT_DONE) {
        disconnect(postgres);
        connecting_failed(postgres,
                          *postgres->refusal.message == '\0' ? why : postgres->refusal.message);
        return false;
    }
    PQclear(result);
    metrics_add(METRIC_POSTGRES_CONNECTED, 1);
    if (postgres->backoff_ms > 0) {
        log_event(LOG_LEVEL_INFO, "postgres.reached", LOG_NO_FIELDS);
    }
    postgres->backoff_ms = 0;
    return true;
}

enum attempt postgres_make_ready(struct postgres *postgres, enum query query, int64_t deadline)
{
    const struct query_text *text = query_text(query);
    PGresult *result = NULL;

    if (postgres->connection != NULL && !wire_is_fresh(postgres->connection)) {
        disconnect(postgres);
    }
    if (postgres->connection == NULL && !connect_now(postgres, deadline)) {
        return ATTEMPT_UNREACHABLE;
    }
    if (postgres->prepared[query]) {
        return ATTEMPT_DONE;
    }
    int queued =
        PQsendPrepare(postgres->connection, text->name, text->text, text->parameters, NULL);
    enum attempt attempt = exchange(postgres, queued, deadline, &result);
    if (attempt == ATTEMPT_UNKNOWN) {
        return ATTEMPT_UNREACHABLE;
    }
    if (attempt == ATTEMPT_DONE) {
        PQclear(result);
        postgres->prepared[query] = true;
    }
    return attempt;
}

const char *postgres_sqlstate(const struct postgres *postgres)
{
    return postgres->refusal.sqlstate;
}

const char *postgres_message(const struct postgres *postgres)
{
    return postgres->refusal.message;
}

const char *postgres_detail(const struct postgres *postgres)
{
    return postgres->refusal.detail;
}

struct str postgres_text(const PGresult *result, int row, int column)
{
    return str_sized(PQgetvalue(result, row, column), (size_t)PQgetlength(result, row, column));
}

int64_t postgres_int(const PGresult *result, int row, int column, int64_t otherwise)
{
    int64_t number = otherwise;

    (void)str_to_int64(postgres_text(result, row, column), INT64_MIN, INT64_MAX, &number);
    return number;
}
