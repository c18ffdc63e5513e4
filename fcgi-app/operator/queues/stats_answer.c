#include "fcgi-app/operator/queues/stats_answer.h"

#include "fcgi-app/operator/queues/queue_answer.h"
#include "lib/admission/queues/queue_setting_value.h"
#include "lib/store/redis.h"

/* consumedPerSecond needs some history even if little is shown. */
enum { SAMPLES_NEEDED = 12 };

enum outcome stats_ask(const struct services *services, const struct request *request,
                       struct str queue, int64_t samples, struct queue_stats *stats)
{
    int64_t wanted = samples > SAMPLES_NEEDED ? samples : SAMPLES_NEEDED;
    const redisReply *reply =
        redis_call(services->redis, request->arena, queue_stats_ask(request->arena, queue, wanted));

    return queue_stats_read(reply, request->arena, stats);
}

static void add_int(json_object *object, const char *name, int64_t value)
{
    json_object_object_add(object, name, json_object_new_int64(value));
}

/** A rate kept per 1000 seconds, per second. */
static void add_rate(json_object *object, const char *name, int64_t milli)
{
    json_object_object_add(object, name, queue_setting_number_json((double)milli / 1000));
}

/** Null for an unknown value, which is -1. */
static void add_known(json_object *object, const char *name, int64_t value)
{
    json_object_object_add(object, name, value < 0 ? NULL : json_object_new_int64(value));
}

static void add_measures(json_object *object, const struct queue_sample *sample)
{
    add_known(object, "withdrawn", sample->withdrawn);
    json_object_object_add(object, "ratePerSecond",
                           sample->rate_milli < 0
                               ? NULL
                               : queue_setting_number_json((double)sample->rate_milli / 1000));
    add_known(object, "orderP50Ms", sample->p50_ms);
    add_known(object, "orderP95Ms", sample->p95_ms);
    add_known(object, "orderP99Ms", sample->p99_ms);
    add_known(object, "promisedWaitSeconds", sample->promised_seconds);
    add_known(object, "actualWaitSeconds", sample->actual_seconds);
    add_known(object, "orderErrors", sample->order_errors);
}

json_object *seconds_json(int64_t ms)
{
    int64_t tenths = ms / 100;

    return ms < 0 ? NULL : queue_setting_number_json((double)tenths / 10);
}

json_object *sample_json(const struct queue_sample *sample)
{
    json_object *answer = json_object_new_object();

    json_object_object_add(answer, "at", time_json(sample->second * 1000));
    add_int(answer, "waiting", sample->waiting);
    add_int(answer, "ready", sample->ready);
    add_int(answer, "claimed", sample->claimed);
    add_int(answer, "entered", sample->entered);
    add_int(answer, "admitted", sample->admitted);
    add_int(answer, "consumed", sample->consumed);
    add_int(answer, "expired", sample->expired);
    add_int(answer, "left", sample->left);
    add_measures(answer, sample);
    return answer;
}

/** What the gate would have done while it only observed. */
static json_object *watch_json(const struct queue_stats *stats)
{
    json_object *answer = json_object_new_object();

    add_int(answer, "visits", stats->watched_visits);
    add_int(answer, "wouldWait", stats->watched_would_wait);
    add_int(answer, "longestLine", stats->watched_longest_line);
    return answer;
}

/* The load of orders, and the rate derived from it. */
static void add_load(json_object *answer, const struct queue_stats *stats)
{
    json_object *latency = NULL;

    if (stats->order_p50_ms >= 0) {
        latency = json_object_new_object();
        add_int(latency, "p50", stats->order_p50_ms);
        add_int(latency, "p95", stats->order_p95_ms);
        add_int(latency, "p99", stats->order_p99_ms);
    }
    add_rate(answer, "ratePerSecondInForce", stats->rate_milli);
    json_object_object_add(answer, "orderLatencyMs", latency);
    add_known(answer, "originP95Ms", stats->origin_p95_ms);
    add_int(answer, "ordersAnswered", stats->orders_answered);
    add_int(answer, "orderErrors", stats->order_errors);
    add_int(answer, "orderTimeouts", stats->order_timeouts);
    add_int(answer, "ordersRefused", stats->orders_refused);
}

json_object *stats_json(struct str queue, const struct queue_stats *stats, size_t samples)
{
    json_object *answer = json_object_new_object();
    json_object *series = json_object_new_array();

    json_object_object_add(answer, "queue", text_json(queue));
    json_object_object_add(answer, "state", text_json(stats->queue_state));
    add_int(answer, "waiting", stats->waiting);
    add_int(answer, "priority", stats->in_priority);
    add_int(answer, "lottery", stats->in_lottery);
    add_int(answer, "away", stats->away);
    add_int(answer, "ready", stats->ready);
    add_int(answer, "claimed", stats->claimed);
    add_int(answer, "unpaid", stats->unpaid);
    add_int(answer, "entered", stats->entered);
    add_int(answer, "admitted", stats->admitted);
    add_int(answer, "consumed", stats->consumed);
    add_int(answer, "expired", stats->expired);
    add_int(answer, "left", stats->left);
    add_int(answer, "withdrawn", stats->withdrawn);
    add_int(answer, "returned", stats->returned);
    add_int(answer, "evicted", stats->evicted);
    json_object_object_add(answer, "watch", watch_json(stats));
    add_rate(answer, "admittedPerSecond", stats->admitted_milli);
    add_rate(answer, "consumedPerSecond", queue_stats_consumed_milli(stats));
    add_load(answer, stats);
    add_known(answer, "promisedWaitSeconds", stats->promised_wait_seconds);
    add_known(answer, "actualWaitSeconds", stats->actual_wait_seconds);
    json_object_object_add(answer, "leader", stats->leader.n > 0 ? text_json(stats->leader) : NULL);
    json_object_object_add(answer, "frozen", json_object_new_boolean(stats->frozen));
    add_int(answer, "lastSeq", stats->last_seq);
    add_int(answer, "incarnation", stats->incarnation);
    json_object_object_add(
        answer, "recoveringUntil",
        stats->recovering_until_ms > stats->now_ms ? time_json(stats->recovering_until_ms) : NULL);
    json_object_object_add(answer, "serverTime", time_json(stats->now_ms));
    for (size_t i = stats->sample_count > samples ? stats->sample_count - samples : 0;
         i < stats->sample_count; i++) {
        json_object_array_add(series, sample_json(&stats->samples[i]));
    }
    json_object_object_add(answer, "series", series);
    return answer;
}
