/*
 * report_figures — figures of an event's history: rates between its points, sums, peaks, and when
 * it sold out.
 */
#ifndef SLUICE_SLUICECTL_REPORT_FIGURES_H
#define SLUICE_SLUICECTL_REPORT_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "lib/base/arena.h"

/** Counters, cumulative in the history. */
enum report_counter {
    REPORT_ENTERED,
    REPORT_ADMITTED,
    REPORT_CONSUMED,
    REPORT_EXPIRED,
    REPORT_LEFT,
    REPORT_WITHDRAWN,
    REPORT_ERRORS,
    REPORT_COUNTERS
};

/** Gauges. */
enum report_gauge {
    REPORT_WAITING,
    REPORT_READY,
    REPORT_CLAIMED,
    REPORT_RATE,
    REPORT_P50,
    REPORT_P95,
    REPORT_P99,
    REPORT_PROMISED,
    REPORT_ACTUAL,
    REPORT_GAUGES
};

struct report_peak {
    double value;
    int64_t at; /* seconds since 1970; 0: there is none */
};

struct report_figures {
    size_t count;
    int64_t *times;                      /* of the points: seconds since 1970 */
    double *per_second[REPORT_COUNTERS]; /* between the previous point and this one; NAN: unknown */
    double *gauges[REPORT_GAUGES];       /* NAN: unknown */
    double sums[REPORT_COUNTERS];        /* over all of it */
    struct report_peak peaks[REPORT_COUNTERS];
    struct report_peak gauge_peaks[REPORT_GAUGES];
    int64_t last_consumed; /* the last point with an order since the point before; 0: none */
};

/** The name of a counter or a gauge in a point of the history. */
const char *report_counter_name(enum report_counter counter);
const char *report_gauge_name(enum report_gauge gauge);

/** Computes them from the points of GET …/history with `step_s` between; all in the arena.
 *  `from_zero`: the queue began within that time, so its counters were 0 before the first point. A
 *  counter that falls was reset (queue reset). */
void report_figures_compute(struct report_figures *figures, struct arena *arena,
                            json_object *points, int64_t step_s, bool from_zero);

#endif
