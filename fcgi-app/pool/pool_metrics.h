/*
 * pool_metrics — what each process of a pool counts: its requests by route and class, and its signs
 * of life.
 */
#ifndef SLUICE_POOL_POOL_METRICS_H
#define SLUICE_POOL_POOL_METRICS_H

#include <stdint.h>

#include "fcgi-app/pool/services.h"
#include "fcgi-app/router.h"

/** Counts one answer of `status` that took `us`; `route` NULL where none was found. */
void pool_metrics_count(enum pool pool, const struct route *route, int status, int64_t us);

/** Says that a process of `pool` lives; to be called about once a second. */
void pool_metrics_beat(enum pool pool);

#endif
