/*
 * redis_outage — logs once that Redis has become unreachable (redis.unreachable), and once that it
 * is back (redis.back), for programs that try it in a loop.
 */
#ifndef SLUICE_STORE_REDIS_OUTAGE_H
#define SLUICE_STORE_REDIS_OUTAGE_H

#include <stdbool.h>

#include "lib/store/redis.h"

/** Stores in `*answered` whether the last try was answered, and logs a change. The caller
 *  initializes `*answered` with true. */
void redis_outage_note(const struct redis *redis, bool *answered, bool answers);

#endif
