/*
 * lottery_store — carries out the draw of a lottery queue once its list has closed. PostgreSQL
 * records the draw, once per epoch, before Redis gets it and any place is published.
 */
#ifndef SLUICE_ORDERS_LOTTERY_STORE_H
#define SLUICE_ORDERS_LOTTERY_STORE_H

#include <stdbool.h>

#include "lib/base/arena.h"
#include "lib/database/queues/queue_store.h"
#include "lib/store/postgres.h"
#include "lib/store/redis.h"

enum lottery_step {
    LOTTERY_NOTHING_DUE, /* no list has closed, the list is empty, or the draw took place before */
    LOTTERY_HELD,        /* recorded and brought to Redis */
    LOTTERY_REDIS_SILENT,
    LOTTERY_POSTGRES_SILENT
};

/** Carries out the draw of `queue` (as PostgreSQL has it) if the list in Redis has closed.
 *  Idempotent and safe to run concurrently: the first draw that PostgreSQL records counts. */
enum lottery_step lottery_hold(struct postgres *postgres, struct redis *redis, struct arena *arena,
                               const struct queue_row *queue);

#endif
