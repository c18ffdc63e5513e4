/*
 * order_load — the load of orders, and of the site behind the gate: latencies in buckets, errors,
 * timeouts. All hosts add to the same counts in Redis (`orderLoad`), in a round trip that an order
 * makes anyway.
 */
#ifndef SLUICE_ADMISSION_ORDER_LOAD_H
#define SLUICE_ADMISSION_ORDER_LOAD_H

#include <stdint.h>

#include "lib/admission/outcome.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis.h"

/** Bucket i counts latencies up to 2^(i/2) ms, the last one all longer ones. */
enum { LOAD_BUCKETS = 32 };

/** Counts since the queue was created. */
struct load_counts {
    int64_t buckets[LOAD_BUCKETS]; /* answered, refusals by a rule included */
    int64_t errors;                /* failed */
    int64_t timeouts;              /* the outcome was not known in time */
    int64_t busy;                  /* refused for too many at once; of orders only */
};

enum load_source { LOAD_ORDERS, LOAD_ORIGIN };

/** The bucket of a latency (≥ 0). */
int order_load_bucket(double ms);

/** The upper end of a bucket in ms; of the last one too. */
double order_load_bucket_end(int bucket);

/** The field in Redis for an order that took `ms`: a constant. */
struct str order_load_answered(int64_t ms);

/** Likewise for a failed order, and for one without an answer in time. */
struct str order_load_error(void);
struct str order_load_timeout(void);

/** Counts one order that no other round trip counts. OK, NOT_FOUND, or ADMISSION_UNAVAILABLE. */
enum outcome order_load_add(struct redis *redis, struct arena *arena, struct str queue,
                            struct str field);

/** Adds all non-zero `counts`: OK, NOT_FOUND, or ADMISSION_UNAVAILABLE. */
enum outcome order_load_add_counts(struct redis *redis, struct arena *arena, struct str queue,
                                   enum load_source source, const struct load_counts *counts);

/** Adds one field of Redis' hash to the counts of its source; unknown fields are ignored. */
void order_load_read_field(struct str field, int64_t count, struct load_counts *orders,
                           struct load_counts *origin);

#endif
