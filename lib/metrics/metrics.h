/*
 * metrics — counters of all programs of a host together, in one file that all of them map, and the form in which
 * Prometheus reads them. What is counted is in metrics.tbl.
 */
#ifndef SLUICE_METRICS_METRICS_H
#define SLUICE_METRICS_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buffer.h"

enum metric {
#define METRIC(name, type, text, labels, help) METRIC_##name,
#include "lib/metrics/metrics.tbl"
#undef METRIC
    METRIC_COUNT
};

/** Counts in the file `path` from now on; it is made where it is not there, and begun anew where it is of another
 *  release. Returns false with errno where that cannot be done; then, as before the first call, this process counts
 *  for itself. */
bool metrics_open(const char *path);

/** Adds `n` ≥ 0 to a counter. Never fails, never waits. */
void metrics_add(enum metric metric, int64_t n);

/** What a counter stands at. */
int64_t metrics_value(enum metric metric);

/** Appends all of them in Prometheus' text form (version 0.0.4). */
void metrics_format(struct buffer *out);

#endif
