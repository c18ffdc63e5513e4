/*
 * pool_metrics — the metrics of each process of a pool: its requests by route and class, and its
 * heartbeat.
 */
#ifndef SLUICE_POOL_POOL_METRICS_H
#define SLUICE_POOL_POOL_METRICS_H

#include <stdint.h>

#include "fcgi-app/pool/services.h"
#include "fcgi-app/router.h"
#include "lib/metrics/metrics.h"

/** Counts one answer of `class` that took `us`; `route` NULL if none was found. */
void pool_metrics_count(enum pool pool, const struct route *route, enum metric_class class,
                        int64_t us);

/** Records a heartbeat for `pool`; to be called about once a second. */
void pool_metrics_beat(enum pool pool);

#endif
