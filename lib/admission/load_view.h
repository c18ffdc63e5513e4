/*
 * load_view — the load of the last seconds: what was counted a while ago weighs less and less. Pure
 * arithmetic.
 */
#ifndef SLUICE_ADMISSION_LOAD_VIEW_H
#define SLUICE_ADMISSION_LOAD_VIEW_H

#include <stdbool.h>

#include "lib/admission/order_load.h"

/** Weights, not counts. Latencies fade by half in little more than a second, drops in seven: a
 *  share of a thousandth wants more of them to be seen. */
struct load_view {
    double buckets[LOAD_BUCKETS]; /* answered, by latency */
    double answered;              /* that drops are a share of */
    double failed;
    double late; /* timed out, or never taken for too many at once */
};

/** What was counted from `before` to `now`, `seconds` (> 0) apart, is added to what is left of
 *  the view. Returns false, with the view emptied, where a count went back: somebody has begun
 *  to count anew. */
bool load_view_add(struct load_view *view, const struct load_counts *before,
                   const struct load_counts *now, double seconds);

/** Lets all latencies fade to the part `kept` of their weight. */
void load_view_fade(struct load_view *view, double kept);

/** The weight of all latencies in view: about as many were answered in the last two seconds or
 *  so. */
double load_view_weight(const struct load_view *view);

/** The latency in ms below which a `part` (0..1) of them lies, within a bucket by proportion; -1
 *  where there is less than one. */
double load_view_quantile(const struct load_view *view, double part);

/** What part of all was dropped, 0 where there was none. */
double load_view_dropped(const struct load_view *view);

#endif
