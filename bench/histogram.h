/*
 * histogram — latencies in microseconds, in buckets that are 1/64 of their value wide: quantiles of
 * any number of requests in fixed memory, within 1.6 %.
 */
#ifndef SLUICE_BENCH_HISTOGRAM_H
#define SLUICE_BENCH_HISTOGRAM_H

#include <stdint.h>

enum {
    HISTOGRAM_STEPS = 64,                    /* buckets to each doubling */
    HISTOGRAM_BUCKETS = HISTOGRAM_STEPS * 32 /* up to 2^37 µs */
};

/** Zeroed memory is an empty one. */
struct histogram {
    uint64_t count;
    int64_t longest_us;
    uint32_t buckets[HISTOGRAM_BUCKETS];
};

/** Adds one latency; below zero counts as zero. */
void histogram_add(struct histogram *histogram, int64_t us);

/** Adds all of `other`. */
void histogram_merge(struct histogram *histogram, const struct histogram *other);

/** The value that `share` (0..1) of all lie at or below, in milliseconds; 0 for an empty one. */
double histogram_quantile_ms(const struct histogram *histogram, double share);

#endif
