/*
 * audit_store — the audit log: who changed what and when. PostgreSQL writes a row in the
 * transaction of the change: the functions that change queues do, and a trigger for products.
 * Actions on a single member take place in Redis; their row is written just before.
 */
#ifndef SLUICE_ORDERS_AUDIT_STORE_H
#define SLUICE_ORDERS_AUDIT_STORE_H

#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/postgres.h"

enum { AUDIT_LIMIT_MAX = 500 };

/** Who makes a change. Borrowed; both NUL-terminated. */
struct change_author {
    const char *actor;
    const char *request_id;
};

/** One change. Everything in it lives in the arena of the call that read it. */
struct audit_row {
    int64_t id;
    int64_t at_ms; /* since 1970 */
    struct str actor;
    struct str action;
    struct str target; /* "queue/spring-sale", "product/mug" */
    struct str request_id;
    json_object *details; /* before and after */
};

/** Reads up to `limit` (≥ 1, at most AUDIT_LIMIT_MAX) rows, newest first, into `*rows` (in the
 *  arena): those older than the row `before_id`, 0: from the newest on; of `target` only, unless
 *  that is empty. */
enum postgres_outcome audit_store_list(struct postgres *postgres, struct arena *arena,
                                       int64_t before_id, struct str target, int64_t limit,
                                       struct audit_row **rows, size_t *count);

/** Sets the author of the product changes that follow on this connection. */
enum postgres_outcome audit_store_name_author(struct postgres *postgres, struct arena *arena,
                                              const struct change_author *author);

/** Records an operator's action before it is carried out: `details` is {"after": {…}} as text. */
enum postgres_outcome audit_store_note(struct postgres *postgres, struct arena *arena,
                                       const struct change_author *author, const char *action,
                                       struct str queue, const char *details);

#endif
