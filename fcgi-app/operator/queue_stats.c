/*
 * GET /v1/admin/queues/{queue}/stats[?samples=1..900] — numbers of this moment and the last seconds.
 * Reply   200 {"queue", "state", "waiting", …, "series": [{"at", "waiting", …}, …]}; the counters entered,
 *         admitted, consumed, expired, left and withdrawn count from the queue's beginning, in the series too
 * Errors  NOT_FOUND; ADMISSION_UNAVAILABLE where Redis cannot say
 */
#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/queue_answer.h"
#include "fcgi-app/pool/handler.h"
#include "lib/admission/queue_publication.h"
#include "lib/admission/queue_setting_value.h"

/* consumedPerSecond needs some history even where little is shown. */
enum { SAMPLES_USUAL = 60, SAMPLES_NEEDED = 12 };

static bool read_samples(const struct request *request, struct response *response, int64_t *samples)
{
    struct str value;

    *samples = SAMPLES_USUAL;
    if (request_query(request, STR("samples"), &value) &&
        !str_to_int64(value, 1, QUEUE_SERIES_MAX, samples)) {
        problem_answer(request, response, PROBLEM_INVALID_REQUEST,
                       "samples must be a whole number from 1 to %d.", QUEUE_SERIES_MAX);
        return false;
    }
    return true;
}

/** A queue that Redis does not know was never made, or Redis has lost it. */
static void answer_unknown(const struct services *services, const struct request *request,
                           struct response *response, struct str queue)
{
    struct queue_row row;
    bool found = false;

    if (!store_answered(services, request, response,
                        queue_store_get(services->postgres, request->arena, queue, &found, &row))) {
        return;
    }
    if (found) {
        problem_answer(request, response, PROBLEM_ADMISSION_UNAVAILABLE,
                       "Redis has lost the queue; its recovery is under way.");
    } else {
        (void)queue_not_found(request, response, queue);
    }
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

static json_object *sample_json(const struct queue_sample *sample)
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
    return answer;
}

/** What the gate would have done while it only watched. */
static json_object *watch_json(const struct queue_stats *stats)
{
    json_object *answer = json_object_new_object();

    add_int(answer, "visits", stats->watched_visits);
    add_int(answer, "wouldWait", stats->watched_would_wait);
    add_int(answer, "longestLine", stats->watched_longest_line);
    return answer;
}

static json_object *stats_json(struct str queue, const struct queue_stats *stats, size_t samples)
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

void queue_stats(const struct services *services, const struct request *request,
                 struct response *response)
{
    struct operator_call call;
    struct queue_stats stats;
    int64_t samples = 0;

    if (!operator_begin(services, request, response, true, &call) ||
        !read_samples(request, response, &samples)) {
        return;
    }
    int64_t wanted = samples > SAMPLES_NEEDED ? samples : SAMPLES_NEEDED;
    const redisReply *reply = redis_call(services->redis, request->arena,
                                         queue_publication_stats(request->arena, call.id, wanted));
    enum outcome outcome = queue_publication_read_stats(reply, request->arena, &stats);
    if (outcome == OUTCOME_NOT_FOUND) {
        answer_unknown(services, request, response, call.id);
        return;
    }
    if (outcome != OUTCOME_OK) {
        problem_answer(request, response, PROBLEM_ADMISSION_UNAVAILABLE, "Redis gave no answer.");
        return;
    }
    json_object *answer = stats_json(call.id, &stats, (size_t)samples);
    response_json_object(response, 200, answer);
    (void)json_object_put(answer);
}
