/*
 * postgres_internal — shared by the parts of the PostgreSQL client and internal to them: postgres.c
 * manages the connection, postgres_call.c executes statements on it.
 */
#ifndef SLUICE_STORE_POSTGRES_INTERNAL_H
#define SLUICE_STORE_POSTGRES_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/store/postgres.h"
#include "lib/store/postgres_wire.h"

struct postgres {
    struct postgres_hosts *hosts;
    char statement_timeout[24]; /* ms, as the server takes it */
    char lock_timeout[24];
    int64_t statement_timeout_ms;
    PGconn *connection;         /* NULL while not connected */
    bool prepared[QUERY_COUNT]; /* on this connection */
    int64_t connect_after_ms;   /* monotonic: no attempt before */
    int64_t backoff_ms;         /* 0 while connections succeed */
    struct postgres_call *in_flight;
    struct postgres_refusal refusal; /* the last one */
};

/* The result of one attempt. */
enum attempt {
    ATTEMPT_DONE,
    ATTEMPT_REFUSED,
    ATTEMPT_UNREACHABLE,
    ATTEMPT_STALE, /* nothing was executed, and a new connection may succeed */
    ATTEMPT_UNKNOWN
};

/** Stores the refusal that `result` carries; NULL: none. */
void postgres_remember(struct postgres *postgres, const PGresult *result);

/** Classifies the end of an exchange. Takes over `result` unless it is DONE. */
enum attempt postgres_judge(struct postgres *postgres, enum wire wire, PGresult *result);

/** Ensures, until `deadline` (monotonic), a connection that seems alive without querying it, with
 *  `query` prepared on it. Only while nothing is in flight. */
enum attempt postgres_make_ready(struct postgres *postgres, enum query query, int64_t deadline);

#endif
