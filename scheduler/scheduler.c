#include "scheduler/scheduler.h"

#include <stdlib.h>

#include "lib/admission/line/promotion.h"
#include "lib/base/clock.h"
#include "lib/base/identifier.h"
#include "lib/base/log.h"
#include "lib/base/random.h"
#include "lib/base/test_pause.h"
#include "lib/database/queues/lottery_store.h"
#include "lib/metrics/metrics.h"
#include "lib/store/redis.h"
#include "lib/store/redis_outage.h"
#include "lib/store/redis_reply.h"
#include "scheduler/rate_keeper.h"

enum {
    DISCOVERY_MS = 250,     /* a new queue or a new pace is noticed within this */
    COLLECTING_CALLS = 100, /* calls of one tick that admit no one, at most */
    RETRY_MS = 200,         /* while Redis cannot be reached */
    DRAW_RETRY_MS = 2000    /* while PostgreSQL cannot be reached and a draw is due */
};

struct queue_clock {
    char id[SLUG_MAX + 1];
    struct promotion_pace pace;
    int64_t next_tick;      /* monotonic ms */
    int64_t next_rate_step; /* at the load and the rate */
    /* The current tick: one call each time it is the queue's turn. */
    bool in_tick;
    int calls;
    int collecting_calls;
    int64_t spent_us;
    struct promotion_tick done; /* the sum of its calls */
    bool leading;
    bool frozen;
    bool found; /* by the current discovery */
};

struct scheduler {
    const struct settings *settings;
    struct redis *redis;
    struct postgres *postgres; /* for draws alone; NULL: draws are left to reconcile */
    struct arena *arena;
    char owner[RANDOM_TOKEN_TEXT + 1];
    struct queue_clock *queues;
    size_t count;
    int64_t next_discovery;
    int64_t next_draw; /* earliest time of the next attempt */
    bool redis_answers;
};

struct scheduler *scheduler_new(const struct settings *settings)
{
    struct scheduler *scheduler = calloc(1, sizeof(*scheduler));

    if (scheduler == NULL) {
        abort();
    }
    scheduler->settings = settings;
    scheduler->redis = redis_new(settings, settings->redis_timeout_ms);
    if (settings->postgres_conninfo[0] != '\0') {
        scheduler->postgres = postgres_new(
            settings->postgres_conninfo, settings->statement_timeout_ms, settings->lock_timeout_ms);
    }
    scheduler->arena = arena_new();
    scheduler->redis_answers = true;
    random_token(scheduler->owner);
    return scheduler;
}

void scheduler_free(struct scheduler *scheduler)
{
    redis_free(scheduler->redis);
    if (scheduler->postgres != NULL) {
        postgres_free(scheduler->postgres);
    }
    arena_free(scheduler->arena);
    free(scheduler->queues);
    free(scheduler);
}

static struct queue_clock *find_or_add(struct scheduler *scheduler, struct str id)
{
    for (size_t i = 0; i < scheduler->count; i++) {
        if (str_equal(str_of(scheduler->queues[i].id), id)) {
            return &scheduler->queues[i];
        }
    }
    struct queue_clock *queues =
        realloc(scheduler->queues, (scheduler->count + 1) * sizeof(*queues));
    if (queues == NULL) {
        abort();
    }
    scheduler->queues = queues;
    struct queue_clock *queue = &queues[scheduler->count++];
    *queue = (struct queue_clock){.next_tick = clock_monotonic_ms()};
    str_copy(id, queue->id, sizeof(queue->id));
    return queue;
}

/* Reads which queues exist and the pace of their ticks. */
static void discover(struct scheduler *scheduler)
{
    const redisReply *ids = promotion_queues(scheduler->redis, scheduler->arena);

    redis_outage_note(scheduler->redis, &scheduler->redis_answers, ids != NULL);
    if (ids == NULL) {
        return;
    }
    for (size_t i = 0; i < scheduler->count; i++) {
        scheduler->queues[i].found = false;
    }
    int64_t patience_ends = clock_monotonic_ms() + scheduler->settings->redis_timeout_ms;
    for (size_t i = 0; i < ids->elements; i++) {
        if (clock_monotonic_ms() >= patience_ends) {
            /* Redis does not answer in time: what is known is kept. */
            return;
        }
        struct str id = redis_reply_text(ids, i);
        struct promotion_pace pace;
        if (!identifier_is_slug(id) ||
            !promotion_read_pace(scheduler->redis, scheduler->arena, id, &pace)) {
            continue;
        }
        struct queue_clock *queue = find_or_add(scheduler, id);
        if (pace.tick_ms < queue->pace.tick_ms) {
            queue->next_tick = clock_monotonic_ms();
        }
        queue->pace = pace;
        queue->found = true;
    }
    size_t kept = 0;
    for (size_t i = 0; i < scheduler->count; i++) {
        if (scheduler->queues[i].found) {
            scheduler->queues[kept++] = scheduler->queues[i];
        }
    }
    scheduler->count = kept;
}

static void note_leadership(struct queue_clock *queue, bool leading)
{
    if (leading != queue->leading) {
        queue->leading = leading;
        log_event(LOG_LEVEL_INFO, leading ? "scheduler.leading" : "scheduler.following",
                  LOG_FIELDS(LOG_TEXT("queue", queue->id)));
    }
}

static void note_tick(struct queue_clock *queue, const struct promotion_tick *tick)
{
    if (tick->frozen != queue->frozen) {
        queue->frozen = tick->frozen;
        log_event(LOG_LEVEL_WARNING,
                  tick->frozen ? "scheduler.order_pool_silent" : "scheduler.order_pool_back",
                  LOG_FIELDS(LOG_TEXT("queue", queue->id)));
    }
    if (tick->admitted + tick->expired + tick->withdrawn > 0) {
        log_event(LOG_LEVEL_INFO, "scheduler.promoted",
                  LOG_FIELDS(LOG_TEXT("queue", queue->id), LOG_INT("admitted", tick->admitted),
                             LOG_INT("expired", tick->expired),
                             LOG_INT("withdrawn", tick->withdrawn),
                             LOG_INT("highestNumber", tick->highest_served),
                             LOG_INT("waiting", tick->waiting), LOG_INT("ready", tick->ready),
                             LOG_INT("claimed", tick->claimed)));
    }
}

/* Holds the draw here, as the opening should not wait for reconcile. While PostgreSQL does not
 * answer, an attempt delays the other queues only once every DRAW_RETRY_MS. */
static void hold_draw(struct scheduler *scheduler, struct str id)
{
    struct queue_row row;
    bool found = false;
    int64_t now = clock_monotonic_ms();

    if (scheduler->postgres == NULL || now < scheduler->next_draw) {
        return;
    }
    if (queue_store_get(scheduler->postgres, scheduler->arena, id, &found, &row) != POSTGRES_OK) {
        scheduler->next_draw = now + DRAW_RETRY_MS;
        log_event(LOG_LEVEL_WARNING, "scheduler.draw_waits_for_postgres",
                  LOG_FIELDS(LOG_STR("queue", id)));
        return;
    }
    if (found && row.lottery_draw.n > 0) {
        /* The draw was held, but Redis missed it. */
        (void)queue_publish_change(scheduler->redis, scheduler->arena, &row);
        return;
    }
    if (found && lottery_hold(scheduler->postgres, scheduler->redis, scheduler->arena, &row) ==
                     LOTTERY_HELD) {
        log_event(LOG_LEVEL_INFO, "lottery.drawn", LOG_FIELDS(LOG_STR("queue", id)));
    }
}

static void end_tick(struct scheduler *scheduler, struct queue_clock *queue)
{
    queue->in_tick = false;
    if (queue->calls > 0) {
        note_tick(queue, &queue->done);
    }
    if (queue->leading) {
        if (queue->done.draw_waits) {
            hold_draw(scheduler, str_of(queue->id));
        }
        metrics_observe_us(HISTOGRAM_TICK, queue->spent_us);
        test_pause("scheduler.promoted");
    }
    metrics_add(!scheduler->redis_answers ? METRIC_TICKS_FAILED
                : queue->leading          ? METRIC_TICKS_LED
                                          : METRIC_TICKS_FOLLOWED,
                1);
}

static void begin_tick(struct scheduler *scheduler, struct queue_clock *queue)
{
    int64_t lease = scheduler->settings->leader_lock_ms;

    if (queue->in_tick) {
        /* The last tick had more to do than fitted before this one. */
        end_tick(scheduler, queue);
    }
    /* A leader must renew before its lock expires, however slow the queue's ticks are. */
    if (lease < 3 * queue->pace.tick_ms) {
        lease = 3 * queue->pace.tick_ms;
    }
    queue->calls = 0;
    queue->collecting_calls = 0;
    queue->spent_us = 0;
    queue->done = (struct promotion_tick){.frozen = queue->frozen};
    queue->in_tick = true;
    enum outcome lead = promotion_lead(scheduler->redis, scheduler->arena, str_of(queue->id),
                                       str_of(scheduler->owner), lease);
    redis_outage_note(scheduler->redis, &scheduler->redis_answers,
                      lead != OUTCOME_ADMISSION_UNAVAILABLE);
    note_leadership(queue, lead == OUTCOME_LEADER);
    if (lead != OUTCOME_LEADER) {
        end_tick(scheduler, queue);
    }
}

/* One call. Returns whether the tick has more to do. */
static bool promote_some(struct scheduler *scheduler, struct queue_clock *queue)
{
    const struct settings *settings = scheduler->settings;
    struct order_pool_life life;
    struct promotion_tick tick;

    if (!order_pool_read_life(scheduler->redis, scheduler->arena, &life)) {
        return false;
    }
    test_pause(queue->calls == 0 ? "scheduler.before_promote" : "scheduler.between_calls");
    enum outcome outcome = promotion_run(
        scheduler->redis, scheduler->arena, str_of(queue->id), str_of(scheduler->owner), &life,
        settings->order_pool_silence_ms, settings->queue_ticket_ttl_seconds * 1000,
        queue->calls > 0, queue->pace.most, &tick);
    if (outcome != OUTCOME_OK) {
        note_leadership(queue, false);
        return false;
    }
    queue->calls++;
    queue->collecting_calls += tick.admitted == 0 ? 1 : 0;
    tick.admitted += queue->done.admitted;
    tick.expired += queue->done.expired;
    tick.withdrawn += queue->done.withdrawn;
    queue->done = tick;
    return tick.more && queue->collecting_calls < COLLECTING_CALLS;
}

/* A tick takes as many calls as rate, places and line allow, until the next one is due. The queues
 * take turns, so that none waits for more than one call of each of the others. */
static void take_turn(struct scheduler *scheduler, struct queue_clock *queue, int64_t now)
{
    int64_t began_us = clock_monotonic_us();

    if (now >= queue->next_tick) {
        begin_tick(scheduler, queue);
        /* Ticks keep their rhythm; missed ones are not caught up. */
        queue->next_tick += queue->pace.tick_ms;
        if (queue->next_tick <= now) {
            queue->next_tick = now + queue->pace.tick_ms;
        }
    }
    if (queue->in_tick) {
        bool goes_on = promote_some(scheduler, queue);
        queue->spent_us += clock_monotonic_us() - began_us;
        if (!goes_on) {
            end_tick(scheduler, queue);
        }
    }
}

/* Returns when the next look is due. */
static int64_t keep_rate_if_due(struct scheduler *scheduler, struct queue_clock *queue)
{
    int64_t now = clock_monotonic_ms();

    if (queue->leading && scheduler->redis_answers && now >= queue->next_rate_step) {
        rate_keeper_look(scheduler->redis, scheduler->arena, str_of(queue->id),
                         str_of(scheduler->owner));
        queue->next_rate_step = now + RATE_KEEPER_MS;
    }
    return queue->leading && scheduler->redis_answers ? queue->next_rate_step : queue->next_tick;
}

int64_t scheduler_step(struct scheduler *scheduler)
{
    int64_t now = clock_monotonic_ms();

    metrics_set_now(METRIC_SEEN_SCHEDULER);
    if (now >= scheduler->next_discovery) {
        discover(scheduler);
        scheduler->next_discovery = now + (scheduler->redis_answers ? DISCOVERY_MS : RETRY_MS);
    }
    int64_t next = scheduler->next_discovery;
    for (size_t i = 0; i < scheduler->count; i++) {
        struct queue_clock *queue = &scheduler->queues[i];
        now = clock_monotonic_ms();
        if (now >= queue->next_tick || queue->in_tick) {
            take_turn(scheduler, queue, now);
            if (!scheduler->redis_answers) {
                /* Each of the other queues would run into the same time-out. */
                next = clock_monotonic_ms() + RETRY_MS;
                break;
            }
        }
        if (queue->in_tick) {
            next = now;
        }
        int64_t next_rate_step = keep_rate_if_due(scheduler, queue);
        if (queue->next_tick < next) {
            next = queue->next_tick;
        }
        if (next_rate_step < next) {
            next = next_rate_step;
        }
    }
    arena_reset(scheduler->arena);
    int64_t wait = next - clock_monotonic_ms();
    return wait > 0 ? wait : 0;
}

void scheduler_hand_over(struct scheduler *scheduler)
{
    for (size_t i = 0; i < scheduler->count; i++) {
        struct queue_clock *queue = &scheduler->queues[i];
        if (queue->leading) {
            enum outcome outcome = promotion_hand_over(scheduler->redis, scheduler->arena,
                                                       str_of(queue->id), str_of(scheduler->owner));
            if (outcome == OUTCOME_ADMISSION_UNAVAILABLE) {
                break;
            }
        }
    }
    arena_reset(scheduler->arena);
}
