#include "lib/metrics/metrics.h"

#include <stdatomic.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/metrics/metrics_file.h"

const int64_t METRIC_TIME_BOUNDS_US[METRIC_TIME_BUCKETS - 1] = {
    500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000, 1000000, 2500000, 5000000};

const int64_t METRIC_WAIT_BOUNDS_MS[METRIC_WAIT_BUCKETS - 1] = {
    1000, 2000, 5000, 10000, 20000, 30000, 60000, 120000, 300000, 600000, 1800000};

static void add(_Atomic int64_t *number, int64_t n)
{
    (void)atomic_fetch_add_explicit(number, n, memory_order_relaxed);
}

static int64_t read_number(_Atomic int64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

void metrics_add(enum metric metric, int64_t n)
{
    add(&metrics_file()->cells[metric].value, n);
}

void metrics_set(enum metric metric, int64_t value)
{
    atomic_store_explicit(&metrics_file()->cells[metric].value, value, memory_order_relaxed);
}

void metrics_set_now(enum metric metric)
{
    metrics_set(metric, clock_wall_ms() / 1000);
}

int64_t metrics_value(enum metric metric)
{
    return read_number(&metrics_file()->cells[metric].value);
}

static size_t bucket_of(const int64_t *bounds, size_t buckets, int64_t value)
{
    size_t bucket = 0;

    while (bucket < buckets - 1 && value > bounds[bucket]) {
        bucket++;
    }
    return bucket;
}

static void observe(struct metrics_times_cell *cell, int64_t us)
{
    us = us < 0 ? 0 : us;
    add(&cell->buckets[bucket_of(METRIC_TIME_BOUNDS_US, METRIC_TIME_BUCKETS, us)], 1);
    add(&cell->sum_us, us);
}

static void read_times(struct metrics_times_cell *cell, struct metric_times *times)
{
    for (size_t i = 0; i < METRIC_TIME_BUCKETS; i++) {
        times->buckets[i] = read_number(&cell->buckets[i]);
    }
    times->sum_us = read_number(&cell->sum_us);
}

void metrics_observe_us(enum metric_histogram histogram, int64_t us)
{
    observe(&metrics_file()->histograms[histogram], us);
}

void metrics_times(enum metric_histogram histogram, struct metric_times *times)
{
    read_times(&metrics_file()->histograms[histogram], times);
}

int metrics_requests_row(const char *labels)
{
    struct metrics_requests_cell *rows = metrics_file()->requests;

    if (strlen(labels) >= METRIC_REQUESTS_NAME) {
        return -1;
    }
    for (int i = 0; i < METRIC_REQUESTS_MAX; i++) {
        int free_row = METRICS_ROW_FREE;
        if (atomic_compare_exchange_strong(&rows[i].state, &free_row, METRICS_ROW_TAKEN)) {
            (void)strncpy(rows[i].labels, labels, METRIC_REQUESTS_NAME - 1);
            atomic_store(&rows[i].state, METRICS_ROW_READY);
            return i;
        }
        /* A row that another process is just claiming is skipped: at worst there are two rows for
         * the labels, and metrics_text adds them up. */
        if (free_row == METRICS_ROW_READY &&
            strncmp(rows[i].labels, labels, METRIC_REQUESTS_NAME) == 0) {
            return i;
        }
    }
    return -1;
}

void metrics_requests_add(int row, enum metric_class class, int64_t us)
{
    if (row < 0 || row >= METRIC_REQUESTS_MAX || (unsigned int)class >= METRIC_CLASSES) {
        return;
    }
    struct metrics_requests_cell *cell = &metrics_file()->requests[row];
    add(&cell->classes[class], 1);
    observe(&cell->times, us);
}

bool metrics_requests_read(int row, struct metric_requests *requests)
{
    struct metrics_requests_cell *cell = &metrics_file()->requests[row];

    if (atomic_load(&cell->state) != METRICS_ROW_READY) {
        return false;
    }
    memcpy(requests->labels, cell->labels, sizeof(requests->labels));
    /* Written by another process, which may have been taken over. */
    requests->labels[sizeof(requests->labels) - 1] = '\0';
    for (size_t i = 0; i < METRIC_CLASSES; i++) {
        requests->classes[i] = read_number(&cell->classes[i]);
    }
    read_times(&cell->times, &requests->times);
    return true;
}

/* Stores a queue word by word: a reader may read at any moment. */
static void store_words(_Atomic int64_t *words, const struct metric_queue *queue)
{
    for (size_t i = 0; i < METRICS_QUEUE_WORDS; i++) {
        int64_t word;
        memcpy(&word, (const char *)queue + i * sizeof(word), sizeof(word));
        atomic_store_explicit(&words[i], word, memory_order_relaxed);
    }
}

static void load_words(_Atomic int64_t *words, struct metric_queue *queue)
{
    for (size_t i = 0; i < METRICS_QUEUE_WORDS; i++) {
        int64_t word = read_number(&words[i]);
        memcpy((char *)queue + i * sizeof(word), &word, sizeof(word));
    }
}

/* An even version means complete. A publisher that was killed halfway leaves an odd one, which the
 * next makes even. */
void metrics_queues_publish(const struct metric_queue *queues, size_t count)
{
    struct metrics_queues_cell *table = &metrics_file()->queues;
    int64_t version = read_number(&table->version) | 1;

    count = count > METRIC_QUEUES_MAX + 1 ? METRIC_QUEUES_MAX + 1 : count;
    atomic_store_explicit(&table->version, version, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    for (size_t i = 0; i < count; i++) {
        store_words(table->words[i], &queues[i]);
    }
    atomic_store_explicit(&table->count, (int64_t)count, memory_order_relaxed);
    atomic_store_explicit(&table->version, version + 1, memory_order_release);
}

size_t metrics_queues_read(struct metric_queue *queues)
{
    enum { ATTEMPTS = 1000 };
    struct metrics_queues_cell *table = &metrics_file()->queues;

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int64_t version = atomic_load_explicit(&table->version, memory_order_acquire);
        int64_t count = read_number(&table->count);
        if (version % 2 != 0 || count < 0 || count > METRIC_QUEUES_MAX + 1) {
            continue;
        }
        for (int64_t i = 0; i < count; i++) {
            load_words(table->words[i], &queues[i]);
            queues[i].name[METRIC_QUEUE_NAME - 1] = '\0';
        }
        atomic_thread_fence(memory_order_acquire);
        if (read_number(&table->version) == version) {
            return (size_t)count;
        }
    }
    return 0;
}

enum others { OTHERS_SUM, OTHERS_MOST, OTHERS_LEAST };

static const enum others OTHERS[] = {
#define QUEUE_METRIC(name, type, others, text, labels, help) OTHERS_##others,
#include "lib/metrics/metrics.tbl"
};

void metrics_queue_join(struct metric_queue *others, const struct metric_queue *queue)
{
    for (size_t i = 0; i < QUEUE_METRIC_COUNT; i++) {
        int64_t value = queue->values[i];
        if (OTHERS[i] == OTHERS_SUM) {
            others->values[i] += value;
        } else if ((OTHERS[i] == OTHERS_MOST) == (value > others->values[i])) {
            others->values[i] = value;
        }
    }
    for (size_t i = 0; i < QUEUE_HISTOGRAM_COUNT; i++) {
        for (size_t k = 0; k < METRIC_WAIT_BUCKETS; k++) {
            others->waits[i].buckets[k] += queue->waits[i].buckets[k];
        }
        others->waits[i].sum_ms += queue->waits[i].sum_ms;
    }
}

int64_t metrics_began(void)
{
    return metrics_file()->began;
}
