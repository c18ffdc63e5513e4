/*
 * redis_time — Redis' clock, by which all deadlines in Redis are measured.
 */
#ifndef SLUICE_STORE_REDIS_TIME_H
#define SLUICE_STORE_REDIS_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/store/redis.h"

/** Redis TIME, ms since 1970. Returns false if Redis did not answer. */
bool redis_time(struct redis *redis, struct arena *arena, int64_t *ms);

#endif
