#include "lib/store/postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/random.h"
#include "lib/metrics/metrics.h"
#include "lib/store/postgres_hosts.h"
#include "lib/store/postgres_wire.h"
#include "lib/store/queries.h"

/* Connecting, setting up and preparing share this much of a call, so that the statement itself always has
 * its whole statement_timeout before the client gives up. */
enum { READY_MS = 1000, BACKOFF_FIRST_MS = 50, BACKOFF_MOST_MS = 1000 };

struct postgres {
    struct postgres_hosts *hosts;
    char statement_timeout[24]; /* ms, as the server takes it */
    char lock_timeout[24];
    int64_t statement_timeout_ms;
    PGconn *connection;         /* NULL while not connected */
    bool prepared[QUERY_COUNT]; /* on this connection */
    int64_t connect_after_ms;   /* monotonic: no attempt before */
    int64_t backoff_ms;         /* 0 while all is well */
    char sqlstate[6];
    char message[256];
    char detail[4096]; /* may name a hundred seats */
};

/* What one attempt came to. */
enum attempt {
    ATTEMPT_DONE,
    ATTEMPT_REFUSED,
    ATTEMPT_UNREACHABLE,
    ATTEMPT_STALE, /* nothing was carried out, and a new connection may do better */
    ATTEMPT_UNKNOWN
};

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

static void remember_refusal(struct postgres *postgres, const PGresult *result)
{
    copy_field(postgres->sqlstate, sizeof(postgres->sqlstate), result, PG_DIAG_SQLSTATE);
    copy_field(postgres->message, sizeof(postgres->message), result, PG_DIAG_MESSAGE_PRIMARY);
    copy_field(postgres->detail, sizeof(postgres->detail), result, PG_DIAG_MESSAGE_DETAIL);
}

static bool has_state(const struct postgres *postgres, const char *sqlstate)
{
    return strcmp(postgres->sqlstate, sqlstate) == 0;
}

/* Reads the end of an exchange. Takes over `result` unless it is DONE. */
static enum attempt judge(struct postgres *postgres, enum wire wire, PGresult *result)
{
    ExecStatusType status = result == NULL ? PGRES_FATAL_ERROR : PQresultStatus(result);

    if (wire == WIRE_DONE && (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK)) {
        return ATTEMPT_DONE;
    }
    remember_refusal(postgres, result);
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
        /* The server was shut down, or ended an idle session: it says so instead of committing. */
        disconnect(postgres);
        return ATTEMPT_STALE;
    }
    if (wire != WIRE_DONE || severity == NULL || fatal || *postgres->sqlstate == '\0' ||
        strncmp(postgres->sqlstate, "08", 2) == 0) {
        disconnect(postgres);
        return ATTEMPT_UNKNOWN;
    }
    bool read_only = has_state(postgres, "25006");
    if (read_only || has_state(postgres, "26000") || has_state(postgres, "0A000")) {
        /* The server takes no writes (any more), and perhaps another one does; or the prepared statement is gone or
         * outdated (a migration): nothing ran. */
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
    enum attempt attempt = judge(postgres, wire, *result);
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
    /* Many workers lose the server at one moment and must not all come back at one. */
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
        connecting_failed(postgres, *postgres->message == '\0' ? why : postgres->message);
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

/* A connection that answers, as far as can be told without asking, with `query` prepared on it. */
static enum attempt make_ready(struct postgres *postgres, enum query query, int64_t deadline)
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

static enum attempt attempt_query(struct postgres *postgres, enum query query,
                                  const char *const *parameters, int64_t ready_by, int64_t deadline,
                                  PGresult **result)
{
    const struct query_text *text = query_text(query);

    remember_refusal(postgres, NULL);
    enum attempt attempt = make_ready(postgres, query, ready_by);

    if (attempt != ATTEMPT_DONE) {
        return attempt;
    }
    int64_t sent_us = clock_monotonic_us();
    int queued = PQsendQueryPrepared(postgres->connection, text->name, text->parameters, parameters,
                                     NULL, NULL, 0);
    attempt = exchange(postgres, queued, deadline, result);
    metrics_observe_us(HISTOGRAM_POSTGRES_CALL, clock_monotonic_us() - sent_us);
    return attempt;
}

/* `*result` is the caller's, for POSTGRES_OK only. */
static enum postgres_outcome run(struct postgres *postgres, enum query query,
                                 const char *const *parameters, int64_t ready_by, int64_t deadline,
                                 PGresult **result)
{
    enum attempt attempt = attempt_query(postgres, query, parameters, ready_by, deadline, result);
    if (attempt == ATTEMPT_STALE) {
        attempt = attempt_query(postgres, query, parameters, ready_by, deadline, result);
    }
    switch (attempt) {
    case ATTEMPT_DONE:
        metrics_add(METRIC_POSTGRES_ANSWERED, 1);
        return POSTGRES_OK;
    case ATTEMPT_REFUSED:
        metrics_add(METRIC_POSTGRES_REFUSED, 1);
        return POSTGRES_REFUSED;
    case ATTEMPT_UNKNOWN:
        metrics_add(METRIC_POSTGRES_UNKNOWN, 1);
        return POSTGRES_UNKNOWN;
    case ATTEMPT_STALE:
    case ATTEMPT_UNREACHABLE:
        break;
    }
    metrics_add(METRIC_POSTGRES_UNREACHABLE, 1);
    return POSTGRES_UNREACHABLE;
}

static void clear_result(void *result)
{
    PQclear(result);
}

enum postgres_outcome postgres_query(struct postgres *postgres, struct arena *arena,
                                     enum query query, const char *const *parameters,
                                     const PGresult **result)
{
    int64_t now = clock_monotonic_ms();
    PGresult *rows = NULL;

    enum postgres_outcome outcome = run(postgres, query, parameters, now + READY_MS,
                                        now + postgres->statement_timeout_ms + READY_MS, &rows);
    *result = NULL;
    if (outcome == POSTGRES_OK) {
        arena_on_reset(arena, clear_result, rows);
        *result = rows;
    }
    return outcome;
}

const char *postgres_sqlstate(const struct postgres *postgres)
{
    return postgres->sqlstate;
}

const char *postgres_message(const struct postgres *postgres)
{
    return postgres->message;
}

const char *postgres_detail(const struct postgres *postgres)
{
    return postgres->detail;
}

/* Whether `query`, asked at once, is answered; its row goes to `rows`, which the caller clears. */
static bool ask_soon(struct postgres *postgres, enum query query, PGresult **rows)
{
    int64_t deadline = clock_monotonic_ms() + READY_MS;

    return run(postgres, query, NULL, deadline, deadline, rows) == POSTGRES_OK;
}

bool postgres_alive(struct postgres *postgres)
{
    PGresult *rows = NULL;

    if (!ask_soon(postgres, QUERY_SESSION_PING, &rows)) {
        return false;
    }
    PQclear(rows);
    return true;
}

bool postgres_commits(struct postgres *postgres)
{
    PGresult *rows = NULL;

    if (!ask_soon(postgres, QUERY_SESSION_COMMITS, &rows)) {
        return false;
    }
    bool commits = str_equal(postgres_text(rows, 0, 0), STR("t"));
    PQclear(rows);
    return commits;
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
