/*
 * redis_metrics — counts round trips to Redis, for both clients. Internal to lib/store.
 */
#ifndef SLUICE_STORE_REDIS_METRICS_H
#define SLUICE_STORE_REDIS_METRICS_H

#include <stdint.h>

#include <hiredis/hiredis.h>

#include "lib/metrics/metrics.h"

/** Counts the end of a round trip, and the time since `sent_us` (clock_monotonic_us) if a reply
 *  came. `reply` NULL: none came. */
void redis_metrics_count(const redisReply *reply, enum metric_histogram client, int64_t sent_us);

#endif
