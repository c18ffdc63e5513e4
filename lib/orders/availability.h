/*
 * availability — whether anything that is sold through a queue is left, products or coupons, and
 * what there is of each coupon event: PostgreSQL's knowledge, carried to Redis. To be looked at
 * after a commit, never within it.
 */
#ifndef SLUICE_ORDERS_AVAILABILITY_H
#define SLUICE_ORDERS_AVAILABILITY_H

#include <stdbool.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/postgres.h"
#include "lib/store/redis.h"

/** Whether the last finding is not what the rows say by now: then somebody has to look. False
 *  also where PostgreSQL does not answer or does not know the queue; nothing is written. */
bool availability_drifted(struct postgres *postgres, struct arena *arena, struct str queue);

/** Looks, numbers the finding and tells Redis. `reopen`: an operator resumes the queue, so one
 *  that was sold out opens again even where its setting `reopen` is false. Returns false where
 *  either did not answer; logged, and safe to repeat. A queue that is not there counts as told. */
bool availability_publish(struct postgres *postgres, struct redis *redis, struct arena *arena,
                          struct str queue, bool reopen);

#endif
