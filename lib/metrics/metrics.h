/*
 * metrics — the numbers that all programs of a host count together, in one file that all of them
 * map. metrics.tbl lists them; metrics_text.h writes them in Prometheus' format.
 *
 * Counting is a relaxed atomic addition: no lock, no system call; it never fails and never blocks.
 * There are four kinds of numbers: counters and gauges of the host, one cell each; histograms of
 * durations of the host; requests, one row for each pool and route, which register themselves;
 * queues, one row each, published together by a single program (sluice-board).
 */
#ifndef SLUICE_METRICS_METRICS_H
#define SLUICE_METRICS_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum metric {
#define METRIC(name, type, text, labels, help) METRIC_##name,
#include "lib/metrics/metrics.tbl"
    METRIC_COUNT
};

enum metric_histogram {
#define HISTOGRAM(name, text, labels, help) HISTOGRAM_##name,
#include "lib/metrics/metrics.tbl"
    HISTOGRAM_COUNT
};

enum queue_metric {
#define QUEUE_METRIC(name, type, others, text, labels, help) QUEUE_METRIC_##name,
#include "lib/metrics/metrics.tbl"
    QUEUE_METRIC_COUNT
};

enum queue_histogram {
#define QUEUE_HISTOGRAM(name, text, labels, help) QUEUE_HISTOGRAM_##name,
#include "lib/metrics/metrics.tbl"
    QUEUE_HISTOGRAM_COUNT
};

/* The last bucket of a histogram has no upper bound. */
enum {
    METRIC_TIME_BUCKETS = 14,
    METRIC_WAIT_BUCKETS = 12,
    METRIC_QUEUES_MAX = 50,    /* shown by name; the others share one row */
    METRIC_QUEUE_NAME = 64,    /* bytes, with the NUL */
    METRIC_REQUESTS_MAX = 256, /* rows of pools and routes */
    METRIC_REQUESTS_NAME = 192 /* bytes of a row's labels, with the NUL */
};

/** Classes of responses. METRIC_CLASS_WAITING: a refusal that is the system's purpose, such as a
 *  waiting page, whatever its status. */
enum metric_class {
    METRIC_CLASS_1XX,
    METRIC_CLASS_2XX,
    METRIC_CLASS_3XX,
    METRIC_CLASS_4XX,
    METRIC_CLASS_5XX,
    METRIC_CLASS_WAITING,
    METRIC_CLASSES
};

/** Upper bounds of all buckets but the last. */
extern const int64_t METRIC_TIME_BOUNDS_US[METRIC_TIME_BUCKETS - 1];
extern const int64_t METRIC_WAIT_BOUNDS_MS[METRIC_WAIT_BUCKETS - 1];

/** The content of a histogram. Buckets are not cumulative. */
struct metric_times {
    int64_t buckets[METRIC_TIME_BUCKETS];
    int64_t sum_us;
};

struct metric_waits {
    int64_t buckets[METRIC_WAIT_BUCKETS];
    int64_t sum_ms;
};

/** The responses of one pool and route, and how long they took. */
struct metric_requests {
    char labels[METRIC_REQUESTS_NAME]; /* in Prometheus' syntax: pool="queue",… */
    int64_t classes[METRIC_CLASSES];
    struct metric_times times;
};

/** The numbers of one queue. Values of type MILLI are thousandths. */
struct metric_queue {
    char name[METRIC_QUEUE_NAME];
    int64_t values[QUEUE_METRIC_COUNT];
    struct metric_waits waits[QUEUE_HISTOGRAM_COUNT];
};

/** From now on counts in the file `path`, which is created if missing and reset if another
 *  release wrote it. Returns false with errno set if that fails; the process then counts in
 *  memory of its own, as before the first call. */
bool metrics_open(const char *path);

/** metrics_open() at the start of a program, with its setting metrics_file; "": counts in memory of
 *  its own. A failure is logged and has the same effect. */
void metrics_start(const char *path);

/** Adds `n` ≥ 0 to a counter. */
void metrics_add(enum metric metric, int64_t n);

/** Sets a gauge. */
void metrics_set(enum metric metric, int64_t value);

/** Sets a gauge to the current time, in seconds since 1970. */
void metrics_set_now(enum metric metric);

/** The value of a counter or gauge. */
int64_t metrics_value(enum metric metric);

/** Adds one duration to a histogram. */
void metrics_observe_us(enum metric_histogram histogram, int64_t us);

/** Reads a histogram. */
void metrics_times(enum metric_histogram histogram, struct metric_times *times);

/** The number of the request row with these labels, which is created if missing; -1 if the
 *  table is full. */
int metrics_requests_row(const char *labels);

/** Counts a response of `class` that took `us`; row -1: no-op. */
void metrics_requests_add(int row, enum metric_class class, int64_t us);

/** Copies row `row` (0 ≤ row < METRIC_REQUESTS_MAX); returns false if there is none. */
bool metrics_requests_read(int row, struct metric_requests *requests);

/** Replaces the published queues: at most METRIC_QUEUES_MAX + 1. Only one program of a host may
 *  call it. */
void metrics_queues_publish(const struct metric_queue *queues, size_t count);

/** Aggregates `queue` into `others`, which starts as a copy of the first queue: sums, or what the
 *  table's OTHERS says. */
void metrics_queue_join(struct metric_queue *others, const struct metric_queue *queue);

/** Copies the published queues to `queues` (room for METRIC_QUEUES_MAX + 1); returns how many. 0
 *  if the publishing program died while it was writing. */
size_t metrics_queues_read(struct metric_queue *queues);

/** When the counters started at 0, in seconds since 1970. */
int64_t metrics_began(void);

#endif
