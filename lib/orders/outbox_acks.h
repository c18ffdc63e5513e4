/*
 * outbox_acks — rows of the outbox that this process has delivered to Redis itself and that are not
 * deleted yet. The next transaction of an order or a coupon deletes them along with its own work;
 * after a while they are deleted by themselves. Redis writes to its disk once a second, and
 * replicas lag behind: what it has answered it may yet forget. So a row is deleted only once the
 * connection over which it was delivered has brought an answer OUTBOX_ACKS_DURABLE_MS later, and
 * the rows of a connection that has ended are forgotten here. Rows that are forgotten, or whose
 * process died, are delivered once more by reconcile, which does no harm.
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
    OUTBOX_ACKS_BATCH_MIN = 16,  /* fewer are not worth a statement */
    OUTBOX_ACKS_BATCH_MAX = 128, /* in one transaction */
    OUTBOX_ACKS_DURABLE_MS =
        2000,                   /* appendfsync everysec: what is older than that is on the disk */
    OUTBOX_ACKS_FLUSH_MS = 3000 /* then they are deleted at the pool's next beat */
};

struct outbox_acks {
    const struct redis *redis; /* which delivered them */
    int64_t connection;        /* redis_connection() of all of them */
    size_t count;
    size_t in_flight;               /* the first so many are in a transaction on its way */
    int64_t ids[OUTBOX_ACKS_MAX];   /* oldest first */
    int64_t at_ms[OUTBOX_ACKS_MAX]; /* monotonic, when each was delivered */
};

/** Remembers a row that was delivered just now; beyond OUTBOX_ACKS_MAX it is left to reconcile.
 *  Nothing for `row` ≤ 0. */
void outbox_acks_add(struct outbox_acks *acks, int64_t row, int64_t now_ms);

/** The rows that the next transaction should delete, as the literal of a bigint[] in the arena:
 *  as many as may be. NULL while those are fewer than OUTBOX_ACKS_BATCH_MIN, and while another
 *  transaction has some. Once the transaction's end is known, outbox_acks_settle() is to be
 *  called. */
const char *outbox_acks_take(struct outbox_acks *acks, struct arena *arena);

/** The transaction that took rows has ended: `committed`, they are deleted; else they wait for
 *  another one. */
void outbox_acks_settle(struct outbox_acks *acks, bool committed);

/** Deletes the rows that may be, in a transaction of its own, where the oldest has waited for
 *  `rest_ms`. Nothing while another transaction has some; where PostgreSQL does not answer they
 *  stay. */
void outbox_acks_flush(struct outbox_acks *acks, struct postgres *postgres, struct arena *arena,
                       int64_t rest_ms);

#endif
