/*
 * postgres_internal — what the parts of the PostgreSQL client share. Internal to them: postgres.c
 * keeps the connection, postgres_call.c puts statements on it.
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
    int64_t backoff_ms;         /* 0 while all is well */
    struct postgres_call *in_flight;
    struct postgres_refusal refusal; /* the last one */
};

/* What one attempt came to. */
enum attempt {
    ATTEMPT_DONE,
    ATTEMPT_REFUSED,
    ATTEMPT_UNREACHABLE,
    ATTEMPT_STALE, /* nothing was carried out, and a new connection may do better */
    ATTEMPT_UNKNOWN
};

/** Keeps what `result` says against the statement; NULL: nothing. */
void postgres_remember(struct postgres *postgres, const PGresult *result);

/** Reads the end of an exchange. Takes over `result` unless it is DONE. */
enum attempt postgres_judge(struct postgres *postgres, enum wire wire, PGresult *result);

/** A connection that answers, as far as can be told without asking, with `query` prepared on it,
 *  until `deadline` (monotonic). Only while nothing is in flight. */
enum attempt postgres_make_ready(struct postgres *postgres, enum query query, int64_t deadline);

#endif
