/*
 * postgres — the blocking PostgreSQL client: one connection, prepared statements only, a deadline on
 * everything, reconnection with back-off. The SQL text lives in sql/queries/, one statement a file.
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
    POSTGRES_OK,      /* rows are there */
    POSTGRES_REFUSED, /* the statement was rolled back with an SQLSTATE: see postgres_sqlstate() */
    POSTGRES_UNREACHABLE, /* nothing was sent: it certainly did not happen */
    POSTGRES_UNKNOWN      /* sent, but no answer: it may have happened or may yet happen */
};

/** A client for `conninfo` (borrowed), which may name several servers: the one that takes writes is found at each
 *  connection. `statement_timeout_ms` and `lock_timeout_ms` are set on each
 *  connection; a call waits at most statement_timeout_ms and one second more. Never NULL. */
struct postgres *postgres_new(const char *conninfo, int64_t statement_timeout_ms,
                              int64_t lock_timeout_ms);

void postgres_free(struct postgres *postgres);

/** How many servers its conninfo names. */
size_t postgres_servers(const struct postgres *postgres);

/** Runs one prepared statement in a transaction of its own: one round trip. `parameters` are text, NULL
 *  for SQL NULL; as many as the query takes. For POSTGRES_OK `*result` has the rows and belongs to the
 *  arena. Never retried here, save where the statement was not sent. */
enum postgres_outcome postgres_query(struct postgres *postgres, struct arena *arena,
                                     enum query query, const char *const *parameters,
                                     const PGresult **result);

/** Of the last refusal: SQLSTATE (five characters), message and DETAIL; "" where there is none. */
const char *postgres_sqlstate(const struct postgres *postgres);
const char *postgres_message(const struct postgres *postgres);
const char *postgres_detail(const struct postgres *postgres);

/** True when the server answers within a second: connects where needed, unless the back-off forbids it. */
bool postgres_alive(struct postgres *postgres);

/** The same, and false while a commit of ours has waited for a standby for a second: then orders are not
 *  acknowledged. */
bool postgres_commits(struct postgres *postgres);

/** A field of a result as text, empty for NULL, borrowed. */
struct str postgres_text(const PGresult *result, int row, int column);

/** A field as a number, `otherwise` for NULL or text that is none. */
int64_t postgres_int(const PGresult *result, int row, int column, int64_t otherwise);

#endif
