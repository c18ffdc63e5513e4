/*
 * lottery_store — holds the draw of a queue whose list has closed: PostgreSQL puts it down, once an
 * epoch, before Redis and with it anybody knows a place.
 */
#ifndef SLUICE_ORDERS_LOTTERY_STORE_H
#define SLUICE_ORDERS_LOTTERY_STORE_H

#include <stdbool.h>

#include "lib/base/arena.h"
#include "lib/orders/queue_store.h"
#include "lib/store/postgres.h"
#include "lib/store/redis.h"

enum lottery_step {
    LOTTERY_NOTHING_DUE, /* no list has closed, or nobody is on it, or the draw was held before */
    LOTTERY_HELD,        /* put down and brought to Redis */
    LOTTERY_REDIS_SILENT,
    LOTTERY_POSTGRES_SILENT
};

/** Holds the draw of `queue` (as PostgreSQL has it) where the list in Redis has closed. Harmless
 *  to repeat and to do twice at once: the first draw that PostgreSQL has is the draw. */
enum lottery_step lottery_hold(struct postgres *postgres, struct redis *redis, struct arena *arena,
                               const struct queue_row *queue);

#endif
