/*
 * metrics_file — layout of the memory in which the programs of a host count. Internal to
 * lib/metrics.
 */
#ifndef SLUICE_METRICS_METRICS_FILE_H
#define SLUICE_METRICS_METRICS_FILE_H

#include <stdatomic.h>
#include <stdint.h>

#include "lib/metrics/metrics.h"

enum { METRICS_CACHE_LINE = 64 };
enum { METRICS_ROW_FREE, METRICS_ROW_TAKEN, METRICS_ROW_READY };
enum { METRICS_QUEUE_WORDS = sizeof(struct metric_queue) / sizeof(int64_t) };

_Static_assert(sizeof(struct metric_queue) % sizeof(int64_t) == 0, "copied word by word");

/* One cache line each, so that counting on one core does not slow down another core that counts
 * something else. */
struct metrics_cell {
    _Alignas(METRICS_CACHE_LINE) _Atomic int64_t value;
};

struct metrics_times_cell {
    _Alignas(METRICS_CACHE_LINE) _Atomic int64_t buckets[METRIC_TIME_BUCKETS];
    _Atomic int64_t sum_us;
};

struct metrics_requests_cell {
    _Alignas(METRICS_CACHE_LINE) _Atomic int state;
    char labels[METRIC_REQUESTS_NAME]; /* written once, before state is METRICS_ROW_READY */
    _Alignas(METRICS_CACHE_LINE) _Atomic int64_t classes[METRIC_CLASSES];
    struct metrics_times_cell times;
};

struct metrics_queues_cell {
    _Alignas(METRICS_CACHE_LINE) _Atomic int64_t version; /* odd while being written */
    _Atomic int64_t count;
    _Atomic int64_t words[METRIC_QUEUES_MAX + 1][METRICS_QUEUE_WORDS];
};

struct metrics_file {
    _Alignas(METRICS_CACHE_LINE) uint64_t layout; /* identifies the tables of a release */
    int64_t began;                                /* seconds since 1970 */
    struct metrics_cell cells[METRIC_COUNT];
    struct metrics_times_cell histograms[HISTOGRAM_COUNT];
    struct metrics_requests_cell requests[METRIC_REQUESTS_MAX];
    struct metrics_queues_cell queues;
};

/** The one in use: mapped or private; never NULL. */
struct metrics_file *metrics_file(void);

#endif
