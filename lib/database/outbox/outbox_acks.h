/*
 * outbox_acks — outbox rows that this process has delivered to Redis itself and that are still to
 * be deleted. The next transaction of an order or a coupon deletes them along with its own work,
 * or, after a while, a transaction of their own. Redis may still lose what it has acknowledged: it
 * syncs its log to disk once a second, and replicas lag behind. A row is therefore deleted only
 * once the connection that delivered it has brought a reply to a command sent
 * OUTBOX_ACKS_DURABLE_MS later; the rows of a connection that has ended are dropped from this list.
 * Rows that were dropped, or whose process died, are delivered again by reconcile, which is
 * harmless.
 */
#ifndef SLUICE_ORDERS_OUTBOX_ACKS_H
#define SLUICE_ORDERS_OUTBOX_ACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/store/postgres.h"
#include "lib/store/redis.h"

enum {
    OUTBOX_ACKS_MAX = 1024,
    OUTBOX_ACKS_BATCH_MIN = 16,    /* fewer are not worth a statement */
    OUTBOX_ACKS_BATCH_MAX = 128,   /* in one transaction */
    OUTBOX_ACKS_DURABLE_MS = 2000, /* appendfsync everysec: older data is on disk */
    OUTBOX_ACKS_FLUSH_MS = 3000    /* age at which the pool's next beat deletes them */
};

struct outbox_acks {
    const struct redis *redis; /* the client that delivered them */
    int64_t connection;        /* redis_connection() of all of them */
    size_t count;
    size_t in_flight;               /* so many of the first are in an unfinished transaction */
    int64_t ids[OUTBOX_ACKS_MAX];   /* oldest first */
    int64_t at_ms[OUTBOX_ACKS_MAX]; /* when each was delivered, monotonic */
};

/** Adds a row that was delivered just now; beyond OUTBOX_ACKS_MAX rows it is left to reconcile. A
 *  no-op for `row` ≤ 0. */
void outbox_acks_add(struct outbox_acks *acks, int64_t row, int64_t now_ms);

/** The rows that the next transaction should delete, as the literal of a bigint[] in the arena.
 *  NULL while fewer than OUTBOX_ACKS_BATCH_MIN may be deleted, and while another transaction has
 *  some. Call outbox_acks_settle() once the outcome of the transaction is known. */
const char *outbox_acks_take(struct outbox_acks *acks, struct arena *arena);

/** The transaction that took rows has ended: `committed`: they are deleted; else they wait for
 *  another one. */
void outbox_acks_settle(struct outbox_acks *acks, bool committed);

/** Deletes the rows that may be deleted, in a transaction of its own, once the oldest is `rest_ms`
 *  old. A no-op while another transaction has some; if PostgreSQL does not answer they stay. */
void outbox_acks_flush(struct outbox_acks *acks, struct postgres *postgres, struct arena *arena,
                       int64_t rest_ms);

#endif
