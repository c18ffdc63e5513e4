/*
 * goods_finding — what PostgreSQL has found about a queue's goods (whether all is sold out, when all
 * that is left expires, its coupon events), published to Redis.
 */
#ifndef SLUICE_ADMISSION_GOODS_FINDING_H
#define SLUICE_ADMISSION_GOODS_FINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/admission/outcome.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis.h"

/** A finding of PostgreSQL about a queue's goods. */
struct goods_finding {
    int64_t change; /* number of the finding, rising per queue: Redis ignores older ones */
    bool sold_out;
    int64_t due_ms;     /* when all that is left expires, ms since 1970; 0: never, or unknown */
    bool with_events;   /* the finding includes the coupon events */
    struct str coupons; /* `event record event record …` (see lua/include/coupons.lua), borrowed */
};

/** Publishes the finding to Redis: SET, OLDER (`*known`, which may be NULL, gets the number that
 *  Redis has, not below the finding's), NOT_FOUND for a queue that Redis does not have and that is
 *  not being recovered, or ADMISSION_UNAVAILABLE. */
enum outcome sold_out_set(struct redis *redis, struct arena *arena, struct str queue,
                          const struct goods_finding *finding, int64_t *known);

/** When everything left in `queue` expires, in ms since 1970, as published to Redis; 0: never, or
 *  no answer. */
int64_t goods_finding_due(struct redis *redis, struct arena *arena, struct str queue);

#endif
