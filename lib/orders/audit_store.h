/*
 * audit_store — the audit: who changed what and when. Its rows are written in PostgreSQL, in the
 * transaction of the change: by the functions that change queues, and by a trigger for products.
 * What is done to one member is done in Redis; its row is written just before.
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

/** Who changes something. Borrowed; both NUL-terminated. */
struct change_author {
    const char *actor;
    const char *request_id;
};

/** One change. Everything in it lives in the arena that it was read into. */
struct audit_row {
    int64_t id;
    int64_t at_ms; /* since 1970 */
    struct str actor;
    struct str action;
    struct str target; /* "queue/spring-sale", "product/mug" */
    struct str request_id;
    json_object *details; /* before and after */
};

/** Reads up to `limit` (≥ 1) rows, newest first, into `*rows` (in the arena): those older than
 *  the row `before_id`, or from the newest on where it is 0; of `target` only, unless that is
 *  empty. */
enum postgres_outcome audit_store_list(struct postgres *postgres, struct arena *arena,
                                       int64_t before_id, struct str target, int64_t limit,
                                       struct audit_row **rows, size_t *count);

/** Names, to this connection, the author of the product changes that follow. */
enum postgres_outcome audit_store_name_author(struct postgres *postgres, struct arena *arena,
                                              const struct change_author *author);

/** Notes what an operator is about to do, before it is done: `details` is {"after": {…}} as
 *  text. */
enum postgres_outcome audit_store_note(struct postgres *postgres, struct arena *arena,
                                       const struct change_author *author, const char *action,
                                       struct str queue, const char *details);

#endif
