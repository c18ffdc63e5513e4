/*
 * load_view — an exponentially decaying view of the load of the last seconds. Pure arithmetic.
 */
#ifndef SLUICE_ADMISSION_LOAD_VIEW_H
#define SLUICE_ADMISSION_LOAD_VIEW_H

#include <stdbool.h>

#include "lib/admission/autopilot/order_load.h"

/** Weights, not counts. The half-life of latencies is a little over a second, that of drops seven
 *  seconds: a share of a thousandth needs more data to be seen. */
struct load_view {
    double buckets[LOAD_BUCKETS]; /* answered, by latency */
    double answered;              /* the base of the share of drops */
    double failed;
    double late; /* timed out, or refused for too many at once */
};

/** Decays the view and adds what was counted from `before` to `now`, `seconds` (> 0) apart. Returns
 *  false, with the view emptied, if a count went down: the counters were reset. */
bool load_view_add(struct load_view *view, const struct load_counts *before,
                   const struct load_counts *now, double seconds);

/** Scales the weight of all latencies by `kept`. */
void load_view_fade(struct load_view *view, double kept);

/** The total weight of the latencies: roughly the number answered in the last two seconds. */
double load_view_weight(const struct load_view *view);

/** The latency in ms that a `part` (0..1) of them stays below, interpolated within a bucket; -1
 *  if their weight is below one. */
double load_view_quantile(const struct load_view *view, double part);

/** The share that was dropped, 0 if there was none. */
double load_view_dropped(const struct load_view *view);

#endif
