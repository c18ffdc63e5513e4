/*
 * order_load — what orders, and the site behind the gate, cost: latencies in buckets, errors,
 * time-outs. Each host adds to the same counts in Redis (`orderLoad`), in the round trip that an
 * order makes anyway.
 */
#ifndef SLUICE_ADMISSION_ORDER_LOAD_H
#define SLUICE_ADMISSION_ORDER_LOAD_H

#include <stdint.h>

#include "lib/admission/outcome.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis.h"

/** Bucket i holds what took up to 2^(i/2) ms, the last one all that took longer. */
enum { LOAD_BUCKETS = 32 };

/** Counts since the queue's beginning. */
struct load_counts {
    int64_t buckets[LOAD_BUCKETS]; /* answered, refusals for a reason included */
    int64_t errors;                /* could not be done */
    int64_t timeouts;              /* nobody knows what became of them in time */
    int64_t busy;                  /* refused for too many at once; of orders only */
};

enum load_source { LOAD_ORDERS, LOAD_ORIGIN };

/** The bucket of a latency (≥ 0). */
int load_bucket(double ms);

/** Upper end of a bucket in ms, of the last one too. */
double load_bucket_end(int bucket);

/** The name in Redis of the bucket for an order that took `ms`: a constant. */
struct str load_answered(int64_t ms);

/** Likewise for one that failed, and for one without an answer in time. */
struct str load_error(void);
struct str load_timeout(void);

/** Counts one order where no other round trip does. OK, NOT_FOUND, or ADMISSION_UNAVAILABLE. */
enum outcome load_add(struct redis *redis, struct arena *arena, struct str queue, struct str field);

/** Adds all of `counts` that is not 0: OK, NOT_FOUND, or ADMISSION_UNAVAILABLE. */
enum outcome load_add_counts(struct redis *redis, struct arena *arena, struct str queue,
                             enum load_source source, const struct load_counts *counts);

/** Counts one field of Redis' hash into the counts of its source; others are overlooked. */
void load_read_field(struct str field, int64_t count, struct load_counts *orders,
                     struct load_counts *origin);

#endif
