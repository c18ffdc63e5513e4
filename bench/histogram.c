#include "bench/histogram.h"

#include <math.h>

/* Below HISTOGRAM_STEPS each value has a bucket of its own; above, each doubling has
 * HISTOGRAM_STEPS. */
static uint32_t bucket_of(uint64_t us)
{
    if (us < HISTOGRAM_STEPS) {
        return (uint32_t)us;
    }
    uint32_t doublings = 63U - (uint32_t)__builtin_clzll(us) - 6U;
    uint32_t bucket =
        (doublings + 1U) * HISTOGRAM_STEPS + (uint32_t)((us >> doublings) - HISTOGRAM_STEPS);
    return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1U;
}

/* The highest value that falls into a bucket. */
static double top_of(uint32_t bucket)
{
    if (bucket < HISTOGRAM_STEPS) {
        return bucket;
    }
    int doublings = (int)(bucket / HISTOGRAM_STEPS) - 1;
    return ldexp((double)(bucket % HISTOGRAM_STEPS + HISTOGRAM_STEPS + 1U), doublings) - 1.0;
}

void histogram_add(struct histogram *histogram, int64_t us)
{
    int64_t value = us < 0 ? 0 : us;

    histogram->buckets[bucket_of((uint64_t)value)]++;
    histogram->count++;
    if (value > histogram->longest_us) {
        histogram->longest_us = value;
    }
}

void histogram_merge(struct histogram *histogram, const struct histogram *other)
{
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        histogram->buckets[i] += other->buckets[i];
    }
    histogram->count += other->count;
    if (other->longest_us > histogram->longest_us) {
        histogram->longest_us = other->longest_us;
    }
}

double histogram_quantile_ms(const struct histogram *histogram, double share)
{
    double wanted = ceil(share * (double)histogram->count);
    double seen = 0;

    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS && histogram->count > 0; i++) {
        seen += histogram->buckets[i];
        if (seen >= wanted && histogram->buckets[i] > 0) {
            double top = top_of(i);
            return (top < (double)histogram->longest_us ? top : (double)histogram->longest_us) /
                   1000;
        }
    }
    return (double)histogram->longest_us / 1000;
}
