/*
 * metrics — what all programs of a host count together, in one file that all of them map. What is
 * counted is in metrics.tbl; metrics_text.h has the form in which Prometheus reads it.
 *
 * Counting is an atomic addition without order: no lock, no call of the system. Four kinds of
 * numbers: counters and gauges of the host, one cell each; histograms of the host, of times;
 * requests, a row for each pool and route, which name themselves; queues, a row for each queue,
 * which one program (sluice-board) publishes as a whole.
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

/* The last bucket of a histogram has no bound. */
enum {
    METRIC_TIME_BUCKETS = 14,
    METRIC_WAIT_BUCKETS = 12,
    METRIC_CLASSES = 5,        /* of answers: 1xx … 5xx */
    METRIC_QUEUES_MAX = 50,    /* shown by name; those beyond are one row */
    METRIC_QUEUE_NAME = 64,    /* bytes, the NUL among them */
    METRIC_REQUESTS_MAX = 256, /* rows of pools and routes */
    METRIC_REQUESTS_NAME = 192 /* bytes of a row's labels, the NUL among them */
};

/** Upper ends of the buckets but the last. */
extern const int64_t METRIC_TIME_BOUNDS_US[METRIC_TIME_BUCKETS - 1];
extern const int64_t METRIC_WAIT_BOUNDS_MS[METRIC_WAIT_BUCKETS - 1];

/** A histogram as it stands. Buckets are not cumulative. */
struct metric_times {
    int64_t buckets[METRIC_TIME_BUCKETS];
    int64_t sum_us;
};

struct metric_waits {
    int64_t buckets[METRIC_WAIT_BUCKETS];
    int64_t sum_ms;
};

/** What answers of one pool and route there were, and how long they took. */
struct metric_requests {
    char labels[METRIC_REQUESTS_NAME]; /* as Prometheus takes them: pool="queue",… */
    int64_t classes[METRIC_CLASSES];
    struct metric_times times;
};

/** The numbers of one queue. Values of the type MILLI count thousandths. */
struct metric_queue {
    char name[METRIC_QUEUE_NAME];
    int64_t values[QUEUE_METRIC_COUNT];
    struct metric_waits waits[QUEUE_HISTOGRAM_COUNT];
};

/** Counts in the file `path` from now on; it is made where it is not there, and begun anew where
 *  it is of another release. Returns false with errno where that cannot be done; then, as before
 *  the first call, this process counts for itself. */
bool metrics_open(const char *path);

/** metrics_open() at the start of a program, by its setting metrics_file; "": each program
 *  counts for itself. Where that fails it is logged, and the program counts for itself too. */
void metrics_start(const char *path);

/** Adds `n` ≥ 0 to a counter. Never fails, never waits; so do all that follow. */
void metrics_add(enum metric metric, int64_t n);

/** Sets a gauge. */
void metrics_set(enum metric metric, int64_t value);

/** Sets a gauge to this moment, in seconds since 1970. */
void metrics_set_now(enum metric metric);

/** What a counter or gauge stands at. */
int64_t metrics_value(enum metric metric);

/** Puts one time into a histogram. */
void metrics_observe_us(enum metric_histogram histogram, int64_t us);

/** What a histogram stands at. */
void metrics_times(enum metric_histogram histogram, struct metric_times *times);

/** The row of the requests with these labels, made where there is none; -1 where there is no
 *  room. */
int metrics_requests_row(const char *labels);

/** Counts an answer of `status` that took `us`; row -1: nothing is counted. */
void metrics_requests_add(int row, int status, int64_t us);

/** Copies a row; returns false where there is none of that number (0 ≤ row <
 *  METRIC_REQUESTS_MAX). */
bool metrics_requests_read(int row, struct metric_requests *requests);

/** Shows these queues, and no others, from now on: at most METRIC_QUEUES_MAX + 1. One program of
 *  a host does this. */
void metrics_queues_publish(const struct metric_queue *queues, size_t count);

/** Adds `queue` to `others`, which began as a copy of the first of them: sums, or what the table
 *  says. */
void metrics_queue_join(struct metric_queue *others, const struct metric_queue *queue);

/** Copies what was published to `queues`, room for METRIC_QUEUES_MAX + 1; returns how many. 0
 *  where the program that publishes ended in the middle of it. */
size_t metrics_queues_read(struct metric_queue *queues);

/** When the counters began at 0, in seconds since 1970. */
int64_t metrics_began(void);

#endif
