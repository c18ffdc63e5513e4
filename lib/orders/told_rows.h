/*
 * told_rows — rows of the outbox that this process has carried out itself and that are not struck yet. The next
 * transaction of an order or a coupon strikes them along with what it does; what waits too long is struck by itself.
 * Redis writes to its disk once a second, and copies lag behind: what it has answered it may yet forget. So a row is struck
 * only once the connection over which it was carried out has brought an answer TOLD_ROWS_KEPT_MS later, and those of a
 * connection that has ended are forgotten here. Rows that are forgotten here, or because the process died, are carried
 * out once more by reconcile, which does no harm.
 */
#ifndef SLUICE_ORDERS_TOLD_ROWS_H
#define SLUICE_ORDERS_TOLD_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/store/postgres.h"
#include "lib/store/redis.h"

enum {
    TOLD_ROWS_MAX = 1024,
    TOLD_ROWS_BATCH = 16,     /* so many are worth a statement */
    TOLD_ROWS_AT_ONCE = 128,  /* at most, in one transaction */
    TOLD_ROWS_KEPT_MS = 2000, /* appendfsync everysec: what is older than that is on the disk */
    TOLD_ROWS_REST_MS = 3000  /* then they are struck at the pool's next beat */
};

struct told_rows {
    const struct redis *redis; /* who was told */
    int64_t connection;        /* redis_connection() of all of them */
    size_t count;
    size_t lent;                  /* the first so many are in a transaction on its way */
    int64_t ids[TOLD_ROWS_MAX];   /* oldest first */
    int64_t at_ms[TOLD_ROWS_MAX]; /* monotonic, when each was carried out */
};

/** Remembers a row that was carried out just now; with TOLD_ROWS_MAX of them it is left to reconcile. Nothing for
 *  `row` ≤ 0. */
void told_rows_add(struct told_rows *told, int64_t row, int64_t now_ms);

/** Those that the next transaction should strike, as the literal of a bigint[] in the arena: as many as may be. NULL
 *  while those are fewer than TOLD_ROWS_BATCH, and while others are lent to a transaction. Once that one's end is known,
 *  told_rows_settle() is to be called. */
const char *told_rows_lend(struct told_rows *told, struct arena *arena);

/** Those that were lent are struck, or they stay for another transaction. */
void told_rows_settle(struct told_rows *told, bool struck);

/** Strikes those that may be, in a transaction of its own, where the oldest has waited for `rest_ms`. Where PostgreSQL
 *  does not answer they stay, and while some are lent. */
void told_rows_flush(struct told_rows *told, struct postgres *postgres, struct arena *arena,
                     int64_t rest_ms);

#endif
