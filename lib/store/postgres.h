/*
 * postgres — a blocking PostgreSQL client: one connection, prepared statements only, a timeout on
 * everything, reconnection with backoff. The SQL text lives in sql/queries/, one statement per
 * file. Not thread-safe.
 */
#ifndef SLUICE_STORE_POSTGRES_H
#define SLUICE_STORE_POSTGRES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libpq-fe.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "sql/queries.gen.h"

struct postgres;

enum postgres_outcome {
    POSTGRES_OK,      /* the rows are available */
    POSTGRES_REFUSED, /* the statement was rolled back with an SQLSTATE: see postgres_sqlstate() */
    POSTGRES_UNREACHABLE, /* nothing was sent: it certainly did not happen */
    POSTGRES_UNKNOWN      /* sent, but no answer: it may have happened or may yet happen */
};

/** Why the server refused a statement; "" for a field that it did not send. */
struct postgres_refusal {
    char sqlstate[6];
    char message[256];
    char detail[4096]; /* may name a hundred seats */
};

/** One statement in flight, so that its caller can do something else while PostgreSQL works. The
 *  caller sets the first two fields; the rest is the client's. */
struct postgres_call {
    enum query query;
    const char *const
        *parameters;     /* as for postgres_query(); must live until the call is finished */
    int64_t ready_by_ms; /* monotonic, as the next: deadline for having a connection */
    int64_t deadline_ms;
    int64_t sent_us;
    int64_t took_us; /* from sending to the end of the answer, as its reader saw it; 0: not sent */
    /* The first connection was unusable, and certainly nothing was executed on it. */
    bool sent_again;
    enum postgres_outcome outcome;
    PGresult *rows;
    struct postgres_refusal refusal; /* if the outcome is not POSTGRES_OK */
};

/** Creates a client for `conninfo` (borrowed), which may name several servers: each connection goes
 *  to the one that takes writes. `statement_timeout_ms` and `lock_timeout_ms` are set on each
 *  connection; a call blocks for at most statement_timeout_ms plus one second. Never NULL; nothing
 *  is connected yet. */
struct postgres *postgres_new(const char *conninfo, int64_t statement_timeout_ms,
                              int64_t lock_timeout_ms);

/** Closes the connection. NULL is allowed. */
void postgres_free(struct postgres *postgres);

/** The number of servers that the conninfo names. */
size_t postgres_servers(const struct postgres *postgres);

/** Executes one prepared statement in a transaction of its own: one round trip. `parameters` are
 *  text, NULL for SQL NULL; as many as the query takes. For POSTGRES_OK `*result` has the rows and
 *  belongs to the arena. Never retried here, unless the statement was not sent. */
enum postgres_outcome postgres_query(struct postgres *postgres, struct arena *arena,
                                     enum query query, const char *const *parameters,
                                     const PGresult **result);

/** Sends `call` without waiting for its answer. A client has one call in flight: an earlier one is
 *  finished first, here and in any other function that queries the server. A call that cannot be
 *  sent is finished immediately. */
void postgres_send(struct postgres *postgres, struct postgres_call *call);

/** The socket on which the answer of the call in flight arrives: once it is readable,
 *  postgres_finish() hardly blocks. -1 if none is in flight. */
int postgres_awaits(const struct postgres *postgres);

/** Waits for the answer, as long as postgres_query() would. A no-op if the call is finished. */
void postgres_finish(struct postgres *postgres, struct postgres_call *call);

/** The outcome of a finished call, as postgres_query() would return it; to be called once. */
enum postgres_outcome postgres_take(struct postgres *postgres, struct arena *arena,
                                    struct postgres_call *call, const PGresult **result);

/** SQLSTATE (five characters), message and DETAIL of the last refusal by postgres_query() or
 *  postgres_take(); "" if missing. */
const char *postgres_sqlstate(const struct postgres *postgres);
const char *postgres_message(const struct postgres *postgres);
const char *postgres_detail(const struct postgres *postgres);

/** True when the server answers within a second: connects if needed, unless the backoff forbids
 *  it. */
bool postgres_alive(struct postgres *postgres);

/** The same, and false while one of our commits has been waiting for a standby for a second: orders
 *  are then not acknowledged. */
bool postgres_commits(struct postgres *postgres);

/** A field of a result as text, empty for NULL, borrowed. */
struct str postgres_text(const PGresult *result, int row, int column);

/** A field as a number, `otherwise` for NULL or text that is none. */
int64_t postgres_int(const PGresult *result, int row, int column, int64_t otherwise);

#endif
