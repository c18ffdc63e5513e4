#include "lib/metrics/metrics_text.h"

#include <stdlib.h>
#include <string.h>

#include "lib/metrics/metrics.h"

#define TYPE_COUNTER "counter"
#define TYPE_GAUGE   "gauge"
#define TYPE_MILLI   "gauge"

struct row {
    const char *name;
    const char *type;
    const char *labels;
    const char *help;
};

static const struct row CELLS[] = {
#define METRIC(name, type, text, labels, help) {text, TYPE_##type, labels, help},
#include "lib/metrics/metrics.tbl"
};

static const struct row HISTOGRAMS[] = {
#define HISTOGRAM(name, text, labels, help) {text, "histogram", labels, help},
#include "lib/metrics/metrics.tbl"
};

static const struct row QUEUE_CELLS[] = {
#define QUEUE_METRIC(name, type, others, text, labels, help) {text, TYPE_##type, labels, help},
#include "lib/metrics/metrics.tbl"
};

#define IS_COUNTER false
#define IS_GAUGE   false
#define IS_MILLI   true

static const bool CELL_IS_MILLI[] = {
#define METRIC(name, type, text, labels, help) IS_##type,
#include "lib/metrics/metrics.tbl"
};

static const bool QUEUE_CELL_IS_MILLI[] = {
#define QUEUE_METRIC(name, type, others, text, labels, help) IS_##type,
#include "lib/metrics/metrics.tbl"
};

static const struct row QUEUE_HISTOGRAMS[] = {
#define QUEUE_HISTOGRAM(name, text, labels, help) {text, "histogram", labels, help},
#include "lib/metrics/metrics.tbl"
};

static const struct row REQUESTS = {
#define REQUEST_COUNTS(text, help) text, "counter", "", help
#include "lib/metrics/metrics.tbl"
};

static const struct row REQUEST_TIMES = {
#define REQUEST_TIMES(text, help) text, "histogram", "", help
#include "lib/metrics/metrics.tbl"
};

static void add_head(struct buffer *out, const struct row *row)
{
    buffer_format(out, "# HELP %s %s\n# TYPE %s %s\n", row->name, row->help, row->name, row->type);
}

/* Rows of one name are adjacent, and the first has the help. */
static bool begins_family(const struct row *rows, size_t i)
{
    return i == 0 || strcmp(rows[i].name, rows[i - 1].name) != 0;
}

/* Writes "name_suffix{a,b} ", with braces if there are labels. */
static void add_series(struct buffer *out, const char *name, const char *suffix, const char *first,
                       const char *second)
{
    bool both = first[0] != '\0' && second[0] != '\0';
    bool any = first[0] != '\0' || second[0] != '\0';

    buffer_format(out, "%s%s%s%s%s%s%s ", name, suffix, any ? "{" : "", first, both ? "," : "",
                  second, any ? "}" : "");
}

static void add_value(struct buffer *out, int64_t value)
{
    buffer_add_int(out, value);
    buffer_add_char(out, '\n');
}

/* Writes `value`, of which `units` make a second, as a decimal number of seconds. */
static void add_decimal(struct buffer *out, int64_t value, int64_t units, int digits)
{
    int64_t size = value < 0 ? -value : value;

    buffer_format(out, "%s%lld.%0*lld", value < 0 ? "-" : "", (long long)(size / units), digits,
                  (long long)(size % units));
}

enum { US = 1000000, US_DIGITS = 6, MS = 1000, MS_DIGITS = 3 };

static void add_number(struct buffer *out, int64_t value, bool milli)
{
    if (milli) {
        add_decimal(out, value, MS, MS_DIGITS);
        buffer_add_char(out, '\n');
    } else {
        add_value(out, value);
    }
}

/* Writes Prometheus' buckets: cumulative, each with its upper bound in seconds. */
static void add_histogram(struct buffer *out, const char *name, const char *first,
                          const char *second, const int64_t *buckets, const int64_t *bounds,
                          size_t count, int64_t sum, int64_t units, int digits)
{
    int64_t below = 0;
    const char *comma = first[0] != '\0' || second[0] != '\0' ? "," : "";
    const char *between = first[0] != '\0' && second[0] != '\0' ? "," : "";

    for (size_t i = 0; i < count; i++) {
        below += buckets[i];
        buffer_format(out, "%s_bucket{%s%s%s%sle=\"", name, first, between, second, comma);
        if (i < count - 1) {
            add_decimal(out, bounds[i], units, digits);
        } else {
            buffer_add(out, STR("+Inf"));
        }
        buffer_add(out, STR("\"} "));
        add_value(out, below);
    }
    add_series(out, name, "_sum", first, second);
    add_decimal(out, sum, units, digits);
    buffer_add_char(out, '\n');
    add_series(out, name, "_count", first, second);
    add_value(out, below);
}

static void add_times(struct buffer *out, const char *name, const char *labels,
                      const struct metric_times *times)
{
    add_histogram(out, name, labels, "", times->buckets, METRIC_TIME_BOUNDS_US, METRIC_TIME_BUCKETS,
                  times->sum_us, US, US_DIGITS);
}

static void add_host(struct buffer *out)
{
    struct metric_times times;

    buffer_format(out,
                  "# HELP sluice_build_info The release that answers here. Several in one cluster "
                  "for long: a "
                  "roll-out stands still.\n# TYPE sluice_build_info "
                  "gauge\nsluice_build_info{version=\"%s\"} 1\n"
                  "# HELP sluice_counting_since_timestamp_seconds When this host's counters began "
                  "at 0. Later than "
                  "the host's start: the file was lost, or another release began a new one.\n"
                  "# TYPE sluice_counting_since_timestamp_seconds gauge\n"
                  "sluice_counting_since_timestamp_seconds %lld\n",
                  PACKAGE_VERSION, (long long)metrics_began());
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        if (begins_family(CELLS, i)) {
            add_head(out, &CELLS[i]);
        }
        add_series(out, CELLS[i].name, "", CELLS[i].labels, "");
        add_number(out, metrics_value((enum metric)i), CELL_IS_MILLI[i]);
    }
    for (size_t i = 0; i < HISTOGRAM_COUNT; i++) {
        if (begins_family(HISTOGRAMS, i)) {
            add_head(out, &HISTOGRAMS[i]);
        }
        metrics_times((enum metric_histogram)i, &times);
        add_times(out, HISTOGRAMS[i].name, HISTOGRAMS[i].labels, &times);
    }
}

/* Two processes may have created a row each for the same labels; Prometheus must see one. */
static void join_twins(struct metric_requests *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (rows[i].labels[0] == '\0' || strcmp(rows[i].labels, rows[k].labels) != 0) {
                continue;
            }
            for (size_t c = 0; c < METRIC_CLASSES; c++) {
                rows[k].classes[c] += rows[i].classes[c];
            }
            for (size_t b = 0; b < METRIC_TIME_BUCKETS; b++) {
                rows[k].times.buckets[b] += rows[i].times.buckets[b];
            }
            rows[k].times.sum_us += rows[i].times.sum_us;
            rows[i].labels[0] = '\0';
        }
    }
}

static size_t read_requests(struct metric_requests *rows)
{
    size_t count = 0;

    for (int i = 0; i < METRIC_REQUESTS_MAX; i++) {
        int64_t answers = 0;
        if (!metrics_requests_read(i, &rows[count])) {
            continue;
        }
        for (size_t c = 0; c < METRIC_CLASSES; c++) {
            answers += rows[count].classes[c];
        }
        count += answers > 0 ? 1 : 0;
    }
    join_twins(rows, count);
    return count;
}

static void add_requests(struct buffer *out)
{
    static const char *const CLASS_LABELS[METRIC_CLASSES] = {
        [METRIC_CLASS_1XX] = "status=\"1xx\"", [METRIC_CLASS_2XX] = "status=\"2xx\"",
        [METRIC_CLASS_3XX] = "status=\"3xx\"", [METRIC_CLASS_4XX] = "status=\"4xx\"",
        [METRIC_CLASS_5XX] = "status=\"5xx\"", [METRIC_CLASS_WAITING] = "status=\"waiting\""};
    struct metric_requests *rows = calloc(METRIC_REQUESTS_MAX, sizeof(*rows));

    if (rows == NULL) {
        abort();
    }
    size_t count = read_requests(rows);
    add_head(out, &REQUESTS);
    for (size_t i = 0; i < count; i++) {
        /* No pool responds with 1xx. */
        for (size_t c = METRIC_CLASS_2XX; c < METRIC_CLASSES && rows[i].labels[0] != '\0'; c++) {
            add_series(out, REQUESTS.name, "", rows[i].labels, CLASS_LABELS[c]);
            add_value(out, rows[i].classes[c]);
        }
    }
    add_head(out, &REQUEST_TIMES);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].labels[0] != '\0') {
            add_times(out, REQUEST_TIMES.name, rows[i].labels, &rows[i].times);
        }
    }
    free(rows);
}

/* Queue ids need no escaping. */
static void queue_label(const struct metric_queue *queue, struct buffer *label)
{
    buffer_clear(label);
    buffer_format(label, "queue=\"%s\"", queue->name);
    buffer_add_char(label, '\0');
}

static void add_queues(struct buffer *out)
{
    struct metric_queue *queues = calloc(METRIC_QUEUES_MAX + 1, sizeof(*queues));
    struct buffer label;

    if (queues == NULL) {
        abort();
    }
    buffer_init(&label, (size_t)2 * METRIC_QUEUE_NAME);
    size_t count = metrics_queues_read(queues);
    /* All series of a family must be adjacent, as the rows of a name are in the table. */
    for (size_t first = 0; first < QUEUE_METRIC_COUNT;) {
        size_t end = first + 1;
        add_head(out, &QUEUE_CELLS[first]);
        while (end < QUEUE_METRIC_COUNT && !begins_family(QUEUE_CELLS, end)) {
            end++;
        }
        for (size_t q = 0; q < count; q++) {
            queue_label(&queues[q], &label);
            for (size_t i = first; i < end; i++) {
                add_series(out, QUEUE_CELLS[i].name, "", label.bytes, QUEUE_CELLS[i].labels);
                add_number(out, queues[q].values[i], QUEUE_CELL_IS_MILLI[i]);
            }
        }
        first = end;
    }
    for (size_t i = 0; i < QUEUE_HISTOGRAM_COUNT; i++) {
        const struct row *row = &QUEUE_HISTOGRAMS[i];
        if (begins_family(QUEUE_HISTOGRAMS, i)) {
            add_head(out, row);
        }
        for (size_t q = 0; q < count; q++) {
            const struct metric_waits *waits = &queues[q].waits[i];
            queue_label(&queues[q], &label);
            add_histogram(out, row->name, label.bytes, row->labels, waits->buckets,
                          METRIC_WAIT_BOUNDS_MS, METRIC_WAIT_BUCKETS, waits->sum_ms, MS, MS_DIGITS);
        }
    }
    buffer_free(&label);
    free(queues);
}

void metrics_format(struct buffer *out)
{
    add_host(out);
    add_requests(out);
    add_queues(out);
}
