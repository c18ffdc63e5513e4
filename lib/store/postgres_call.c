#include "lib/base/clock.h"
#include "lib/metrics/metrics.h"
#include "lib/store/postgres_internal.h"
#include "lib/store/queries.h"

/* The part of a call for connecting, setting up and preparing, so that the statement always has its
 * full statement_timeout before the client gives up. */
enum { READY_MS = 1000 };

/* ATTEMPT_DONE: sent. */
static enum attempt send_now(struct postgres *postgres, struct postgres_call *call)
{
    const struct query_text *text = query_text(call->query);

    postgres_remember(postgres, NULL);
    enum attempt attempt = postgres_make_ready(postgres, call->query, call->ready_by_ms);
    if (attempt != ATTEMPT_DONE) {
        return attempt;
    }
    call->sent_us = clock_monotonic_us();
    if (PQsendQueryPrepared(postgres->connection, text->name, text->parameters, call->parameters,
                            NULL, NULL, 0) == 1 &&
        wire_send(postgres->connection, call->deadline_ms)) {
        return ATTEMPT_DONE;
    }
    return postgres_judge(postgres, WIRE_UNSENT, NULL);
}

static enum attempt receive(struct postgres *postgres, struct postgres_call *call)
{
    enum wire wire = wire_receive(postgres->connection, call->deadline_ms, &call->rows);

    enum attempt attempt = postgres_judge(postgres, wire, call->rows);
    if (attempt != ATTEMPT_DONE) {
        call->rows = NULL;
    }
    call->took_us = clock_monotonic_us() - call->sent_us;
    metrics_observe_us(HISTOGRAM_POSTGRES_CALL, call->took_us);
    return attempt;
}

static enum postgres_outcome count(enum attempt attempt)
{
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

static void conclude(struct postgres *postgres, struct postgres_call *call, enum attempt attempt)
{
    postgres->in_flight = NULL;
    call->outcome = count(attempt);
    if (call->outcome != POSTGRES_OK) {
        call->refusal = postgres->refusal;
    }
}

/* The second and last attempt at what certainly was not executed. */
static enum attempt send_again(struct postgres *postgres, struct postgres_call *call)
{
    call->sent_again = true;
    call->ready_by_ms = clock_monotonic_ms() + READY_MS;
    return send_now(postgres, call);
}

/* Sends a call with a deadline in `longest_ms`, of which at most READY_MS are for the connection,
 * counted from the end of an earlier call. */
static void send_for(struct postgres *postgres, struct postgres_call *call, int64_t longest_ms)
{
    if (postgres->in_flight != NULL) {
        postgres_finish(postgres, postgres->in_flight);
    }
    call->ready_by_ms = clock_monotonic_ms() + READY_MS;
    call->deadline_ms = clock_monotonic_ms() + longest_ms;
    call->took_us = 0;
    call->sent_again = false;
    call->rows = NULL;
    enum attempt attempt = send_now(postgres, call);
    if (attempt == ATTEMPT_STALE) {
        attempt = send_again(postgres, call);
    }
    if (attempt == ATTEMPT_DONE) {
        postgres->in_flight = call;
    } else {
        conclude(postgres, call, attempt);
    }
}

void postgres_send(struct postgres *postgres, struct postgres_call *call)
{
    send_for(postgres, call, postgres->statement_timeout_ms + READY_MS);
}

int postgres_awaits(const struct postgres *postgres)
{
    return postgres->in_flight == NULL ? -1 : PQsocket(postgres->connection);
}

void postgres_finish(struct postgres *postgres, struct postgres_call *call)
{
    if (postgres->in_flight != call) {
        return;
    }
    enum attempt attempt = receive(postgres, call);
    if (attempt == ATTEMPT_STALE && !call->sent_again) {
        attempt = send_again(postgres, call);
        if (attempt == ATTEMPT_DONE) {
            attempt = receive(postgres, call);
        }
    }
    conclude(postgres, call, attempt);
}

static void clear_result(void *result)
{
    PQclear(result);
}

enum postgres_outcome postgres_take(struct postgres *postgres, struct arena *arena,
                                    struct postgres_call *call, const PGresult **result)
{
    *result = NULL;
    if (call->outcome == POSTGRES_OK) {
        arena_on_reset(arena, clear_result, call->rows);
        *result = call->rows;
    } else {
        postgres->refusal = call->refusal;
    }
    return call->outcome;
}

enum postgres_outcome postgres_query(struct postgres *postgres, struct arena *arena,
                                     enum query query, const char *const *parameters,
                                     const PGresult **result)
{
    struct postgres_call call = {.query = query, .parameters = parameters};

    postgres_send(postgres, &call);
    postgres_finish(postgres, &call);
    return postgres_take(postgres, arena, &call, result);
}

/* Whether `query` is answered within READY_MS; the caller clears `rows`. */
static bool query_briefly(struct postgres *postgres, enum query query, PGresult **rows)
{
    struct postgres_call call = {.query = query};

    send_for(postgres, &call, READY_MS);
    postgres_finish(postgres, &call);
    *rows = call.rows;
    return call.outcome == POSTGRES_OK;
}

bool postgres_alive(struct postgres *postgres)
{
    PGresult *rows = NULL;

    if (!query_briefly(postgres, QUERY_SESSION_PING, &rows)) {
        return false;
    }
    PQclear(rows);
    return true;
}

bool postgres_commits(struct postgres *postgres)
{
    PGresult *rows = NULL;

    if (!query_briefly(postgres, QUERY_SESSION_COMMITS, &rows)) {
        return false;
    }
    bool commits = str_equal(postgres_text(rows, 0, 0), STR("t"));
    PQclear(rows);
    return commits;
}
