#include "lib/admission/opening_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/admission/autopilot/autopilot.h"
#include "lib/admission/line/poll_tiers.h"

enum {
    QUIET_ORDER_MS = 30,  /* an order on an idle system */
    BYTES_A_MEMBER = 260, /* waiting: its id twice, its score, the data of its number */
    BYTES_A_PLACE = 700,  /* admitted: token, admission, deadlines */
    BYTES_OF_A_QUEUE = 2 << 20,
    REQUESTS_A_CORE = 4000, /* polls and entries per second, half of docs/performance.md's figure */
    ORDERS_A_WORKER = 20    /* per second: sequential transactions, with a margin */
};

struct simulation {
    const struct opening_plan *plan;
    struct opening_forecast *forecast;
    double *leaving;  /* places that end, by second modulo `horizon` */
    double *ordering; /* arriving orders, likewise */
    int64_t horizon;
    int64_t arrived; /* whole members */
    double admitted;
    double saved_up; /* the token bucket */
    double active;
    double rate;     /* in force */
    double backlog;  /* orders waiting for the shop */
    double answered; /* carried fraction of an answered order */
    struct autopilot_goal goal;
    struct autopilot_look look;
    struct autopilot_memory memory;
    double *waits; /* admitted members by full seconds waited, up to PLAN_SECONDS_MAX */
    double polls;
};

/* Polls a second of a line with the default tiers: all but the first add half of the most jitter on
 * average. */
static double polls_of(double line)
{
    size_t count;
    const struct poll_tier *tiers = poll_tiers_default(&count);
    double polls = 0;
    double before = 0;

    for (size_t i = 0; i < count && before < line; i++) {
        double rank = (double)tiers[i].up_to_rank;
        double jitter = i == 0 ? 0 : POLL_JITTER_PERCENT / 200.0;
        polls += (fmin(line, rank) - before) / ((double)tiers[i].seconds * (1 + jitter));
        before = rank;
    }
    return polls;
}

static int64_t arrived_by(const struct opening_plan *plan, int64_t second)
{
    if (plan->arrive_s <= 0 || second >= plan->arrive_s) {
        return plan->users;
    }
    return (int64_t)((double)plan->users * (double)(second + 1) / (double)plan->arrive_s);
}

/* When the owner of that number arrived. */
static double arrival_time(const struct opening_plan *plan, double number)
{
    return plan->arrive_s <= 0 ? 0 : number / (double)plan->users * (double)plan->arrive_s;
}

static double raise_to(double *most, double value)
{
    *most = fmax(*most, value);
    return value;
}

/* Admits as promotion does: what bucket and free places allow, whole members only. */
static double admit(struct simulation *it, int64_t second)
{
    const struct opening_plan *plan = it->plan;
    double line = (double)it->arrived - it->admitted;

    it->saved_up = fmin(it->saved_up + it->rate, fmax(1, it->rate));
    double room = (double)plan->max_active - it->active;
    double count = floor(fmin(line, fmin(it->saved_up, fmax(room, 0))));
    if (line > count && room < it->saved_up) {
        it->forecast->room_limits = true;
    }
    double waited = fmax((double)second - arrival_time(plan, it->admitted + count / 2), 0);
    it->waits[(int64_t)fmin(waited, PLAN_SECONDS_MAX)] += count;
    raise_to(&it->forecast->wait_longest_s, count > 0 ? waited : 0);
    it->saved_up -= count;
    it->admitted += count;
    it->active += count;
    double coming = count * (1 - plan->no_shows);
    it->leaving[(second + plan->visit_s) % it->horizon] += coming;
    it->ordering[(second + plan->visit_s) % it->horizon] += coming;
    it->leaving[(second + plan->pickup_s) % it->horizon] += count - coming;
    return count;
}

/* The shop answers up to its capacity; the rest queues up. */
static void order(struct simulation *it, double coming)
{
    const struct opening_plan *plan = it->plan;
    double capacity = plan->capacity > 0 ? plan->capacity : INFINITY;
    double load = coming / capacity;

    it->backlog += coming;
    double ended = fmin(it->backlog, capacity);
    double slow = plan->capacity > 0 ? 1000 * (it->backlog - ended) / capacity : 0;
    double busy = fmin(load, 0.95);
    it->backlog -= ended;
    it->forecast->overloaded |= load > 1;
    double ms = QUIET_ORDER_MS / (1 - busy) + slow;
    it->answered += ended;
    int64_t whole = (int64_t)it->answered;
    it->answered -= (double)whole;
    it->look.orders.buckets[order_load_bucket(ms)] += whole;
}

static void adjust_rate(struct simulation *it, double count)
{
    struct autopilot_verdict verdict;

    if (!it->plan->autopilot) {
        return;
    }
    it->look.now_ms += 1000;
    it->look.admitted += (int64_t)count;
    it->look.ready = (int64_t)it->active;
    it->look.waiting = it->arrived - (int64_t)it->admitted;
    autopilot_step(&it->goal, &it->look, &it->memory, &verdict);
    it->look.moved = true;
    it->rate = verdict.rate;
}

static void simulate_second(struct simulation *it, int64_t second)
{
    int64_t slot = second % it->horizon;
    int64_t before = it->arrived;
    double coming = it->ordering[slot];

    it->active -= it->leaving[slot];
    it->leaving[slot] = it->ordering[slot] = 0;
    it->arrived = arrived_by(it->plan, second);
    raise_to(&it->forecast->most_entries, (double)(it->arrived - before));
    double line = (double)it->arrived - it->admitted;
    it->forecast->longest_line = (int64_t)fmax((double)it->forecast->longest_line, line);
    double count = admit(it, second);
    it->polls += raise_to(&it->forecast->most_polls, polls_of(line - count));
    it->forecast->most_active = (int64_t)fmax((double)it->forecast->most_active, it->active);
    raise_to(&it->forecast->most_orders, coming);
    order(it, coming);
    adjust_rate(it, count);
}

static double waited_by(const struct simulation *it, double part)
{
    double passed = 0;

    for (int64_t second = 0; second <= PLAN_SECONDS_MAX; second++) {
        passed += it->waits[second];
        if (passed >= part * it->admitted && passed > 0) {
            return (double)second;
        }
    }
    return 0;
}

static void summarize(struct simulation *it, int64_t seconds)
{
    struct opening_forecast *forecast = it->forecast;

    forecast->complete = it->admitted >= (double)it->plan->users;
    forecast->ends_s = seconds;
    forecast->wait_p50_s = waited_by(it, 0.5);
    forecast->wait_p95_s = waited_by(it, 0.95);
    forecast->mean_polls = seconds > 0 ? it->polls / (double)seconds : 0;
    forecast->last_rate = it->rate;
    forecast->redis_bytes = BYTES_OF_A_QUEUE + forecast->longest_line * BYTES_A_MEMBER +
                            forecast->most_active * BYTES_A_PLACE;
    forecast->queue_workers =
        1 + (int64_t)((forecast->most_polls + forecast->most_entries) / REQUESTS_A_CORE);
}

static void *cleared(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (memory == NULL) {
        abort();
    }
    return memory;
}

void opening_plan_run(const struct opening_plan *plan, struct opening_forecast *forecast)
{
    struct simulation it = {
        .plan = plan,
        .forecast = forecast,
        .horizon = 1 + (plan->visit_s > plan->pickup_s ? plan->visit_s : plan->pickup_s),
        .rate = plan->rate,
        .saved_up = 0,
        .goal = {.order_p95_ms = plan->order_p95_ms,
                 .origin_p95_ms = plan->order_p95_ms,
                 .most_dropped = 0.001,
                 .start = plan->rate,
                 .floor = fmin(1, plan->rate),
                 .ceiling = plan->ceiling,
                 .no_shows = false},
        .look = {.now_ms = 1000, .open = true}};
    int64_t second = 0;

    *forecast = (struct opening_forecast){0};
    it.leaving = cleared((size_t)it.horizon, sizeof(double));
    it.ordering = cleared((size_t)it.horizon, sizeof(double));
    it.waits = cleared(PLAN_SECONDS_MAX + 1, sizeof(double));
    while (it.admitted < (double)plan->users && second < PLAN_SECONDS_MAX) {
        simulate_second(&it, second++);
    }
    summarize(&it, second);
    /* The members admitted last have yet to order. */
    for (int64_t ends = second + plan->visit_s; second < ends; second++) {
        raise_to(&forecast->most_orders, it.ordering[second % it.horizon]);
    }
    forecast->order_workers = 1 + (int64_t)(forecast->most_orders / ORDERS_A_WORKER);
    free(it.leaving);
    free(it.ordering);
    free(it.waits);
}
