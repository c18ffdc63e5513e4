#include "board/queue_figures.h"

#include <stdlib.h>

#include "lib/admission/queues/queue_stats.h"
#include "lib/base/clock.h"
#include "lib/metrics/metrics.h"

enum { ROUND_MS = 1000 };

struct queue_figures {
    int64_t began_ms; /* monotonic; 0: never */
    size_t count;
    struct metric_queue queues[METRIC_QUEUES_MAX + 1];
};

struct queue_figures *queue_figures_new(void)
{
    struct queue_figures *figures = calloc(1, sizeof(*figures));

    if (figures == NULL) {
        abort();
    }
    return figures;
}

void queue_figures_free(struct queue_figures *figures)
{
    metrics_queues_publish(NULL, 0);
    free(figures);
}

bool queue_figures_are_due(const struct queue_figures *figures, int64_t now_ms)
{
    return figures->began_ms == 0 || now_ms - figures->began_ms >= ROUND_MS;
}

void queue_figures_begin(struct queue_figures *figures, int64_t now_ms)
{
    figures->began_ms = now_ms;
    figures->count = 0;
}

/* Unknown values are negative. */
static int64_t at_least_0(int64_t number)
{
    return number < 0 ? 0 : number;
}

static void set_state(int64_t *values, struct str state)
{
    static const struct {
        const char *word;
        enum queue_metric metric;
    } STATES[] = {
        {"PRE_OPEN", QUEUE_METRIC_STATE_PRE_OPEN}, {"OPEN", QUEUE_METRIC_STATE_OPEN},
        {"PAUSED", QUEUE_METRIC_STATE_PAUSED},     {"DRAINING", QUEUE_METRIC_STATE_DRAINING},
        {"SOLD_OUT", QUEUE_METRIC_STATE_SOLD_OUT}, {"CLOSED", QUEUE_METRIC_STATE_CLOSED},
    };

    for (size_t i = 0; i < sizeof(STATES) / sizeof(STATES[0]); i++) {
        values[STATES[i].metric] = str_equal(state, str_of(STATES[i].word)) ? 1 : 0;
    }
}

static void fill(struct metric_queue *queue, const struct queue_stats *stats)
{
    int64_t *values = queue->values;

    values[QUEUE_METRIC_WAITING] = stats->waiting;
    values[QUEUE_METRIC_READY] = stats->ready;
    values[QUEUE_METRIC_CLAIMED] = stats->claimed;
    values[QUEUE_METRIC_UNPAID] = stats->unpaid;
    values[QUEUE_METRIC_AWAY] = stats->away;
    values[QUEUE_METRIC_ENTERED] = stats->entered;
    values[QUEUE_METRIC_ADMITTED] = stats->admitted;
    values[QUEUE_METRIC_CONSUMED] = stats->consumed;
    values[QUEUE_METRIC_EXPIRED] = stats->expired;
    values[QUEUE_METRIC_LEFT] = stats->left;
    values[QUEUE_METRIC_WITHDRAWN] = stats->withdrawn;
    values[QUEUE_METRIC_RETURNED] = stats->returned;
    values[QUEUE_METRIC_EVICTED] = stats->evicted;
    values[QUEUE_METRIC_RATE_IN_FORCE] = stats->rate_milli;
    values[QUEUE_METRIC_RATE_ADMITTED] = stats->admitted_milli;
    values[QUEUE_METRIC_WAIT_PROMISED] = 1000 * at_least_0(stats->promised_wait_seconds);
    values[QUEUE_METRIC_WAIT_ACTUAL] = 1000 * at_least_0(stats->actual_wait_seconds);
    values[QUEUE_METRIC_ORDER_P50] = at_least_0(stats->order_p50_ms);
    values[QUEUE_METRIC_ORDER_P95] = at_least_0(stats->order_p95_ms);
    values[QUEUE_METRIC_ORDER_P99] = at_least_0(stats->order_p99_ms);
    values[QUEUE_METRIC_ORIGIN_P95] = at_least_0(stats->origin_p95_ms);
    values[QUEUE_METRIC_ORDERS_ANSWERED] = stats->orders_answered;
    values[QUEUE_METRIC_ORDERS_FAILED] = stats->order_errors;
    values[QUEUE_METRIC_ORDERS_TIMED_OUT] = stats->order_timeouts;
    values[QUEUE_METRIC_ORDERS_REFUSED] = stats->orders_refused;
    set_state(values, stats->queue_state);
    values[QUEUE_METRIC_LEADER] = stats->leader.n > 0 ? 1 : 0;
    values[QUEUE_METRIC_FROZEN] = stats->frozen ? 1 : 0;
    values[QUEUE_METRIC_RECOVERING] = stats->recovering_until_ms > stats->now_ms ? 1 : 0;
    queue->waits[QUEUE_HISTOGRAM_WAIT_LATE] = stats->late;
    queue->waits[QUEUE_HISTOGRAM_WAIT_EARLY] = stats->early;
}

/* Queues beyond the limit are summed up in one row. */
static void add(struct queue_figures *figures, const struct metric_queue *queue)
{
    struct metric_queue *others = &figures->queues[METRIC_QUEUES_MAX];

    if (figures->count < METRIC_QUEUES_MAX) {
        figures->queues[figures->count++] = *queue;
    } else if (figures->count == METRIC_QUEUES_MAX) {
        *others = *queue;
        str_copy(STR("other"), others->name, sizeof(others->name));
        figures->count++;
    } else {
        metrics_queue_join(others, queue);
    }
}

bool queue_figures_read(struct queue_figures *figures, struct redis *redis, struct arena *arena,
                        struct str queue)
{
    struct metric_queue row = {0};
    struct queue_stats stats;
    enum outcome outcome =
        queue_stats_read(redis_call(redis, arena, queue_stats_ask(arena, queue, 0)), arena, &stats);

    if (outcome == OUTCOME_OK) {
        str_copy(queue, row.name, sizeof(row.name));
        fill(&row, &stats);
        add(figures, &row);
        metrics_set(METRIC_REDIS_CLOCK_AHEAD, stats.now_ms - clock_wall_ms());
    }
    return outcome != OUTCOME_ADMISSION_UNAVAILABLE;
}

void queue_figures_end(struct queue_figures *figures)
{
    metrics_queues_publish(figures->queues, figures->count);
    metrics_set_now(METRIC_QUEUE_FIGURES_AT);
}
