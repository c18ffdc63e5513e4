/*
 * order_pool — the heartbeat of the order pool: while no host takes orders, nobody is promoted and
 * no deadline runs.
 */
#ifndef SLUICE_ADMISSION_ORDER_POOL_H
#define SLUICE_ADMISSION_ORDER_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/admission/outcome.h"
#include "lib/base/arena.h"
#include "lib/store/redis.h"

/** The order pool's heartbeat; without it nobody is promoted. A pause of more than `silence_ms`
 *  since the last one is recorded as an outage; 0: never. */
enum outcome order_pool_beat(struct redis *redis, struct arena *arena, int64_t silence_ms);

/** The order pool's heartbeats, by Redis TIME. */
struct order_pool_life {
    int64_t seen_ms;   /* the last one, ms since 1970; -1: never */
    int64_t silent_ms; /* total length of past outages */
};

/** Reads them. Returns false if Redis did not answer. */
bool order_pool_read_life(struct redis *redis, struct arena *arena, struct order_pool_life *life);

#endif
