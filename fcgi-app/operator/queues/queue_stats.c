/*
 * GET /v1/admin/queues/{queue}/stats[?samples=1..900] — current statistics and the last
 * seconds.
 *
 * Reply     200 {"queue", "state", "waiting", …, "series": [{"at", "waiting", …}, …]}; the counters
 *           entered, admitted, consumed, expired, left and withdrawn count since the queue was
 *           created, in the series too
 * Errors    401 UNAUTHENTICATED, 400 INVALID_REQUEST, 404 NOT_FOUND, 503 ORDERS_UNAVAILABLE,
 *           503 ADMISSION_UNAVAILABLE
 * Touches   lua/queues/stats.lua; sql/queries/queues/queue_get.sql if Redis does not know the queue
 * Roles     operator, viewer
 */
#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/queues/queue_answer.h"
#include "fcgi-app/operator/queues/stats_answer.h"
#include "fcgi-app/pool/handler.h"

enum { SAMPLES_USUAL = 60 };

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
    enum outcome outcome = stats_ask(services, request, call.id, samples, &stats);
    if (outcome == OUTCOME_NOT_FOUND) {
        queue_answer_unknown(services, request, response, call.id);
        return;
    }
    if (outcome != OUTCOME_OK) {
        problem_answer(request, response, PROBLEM_ADMISSION_UNAVAILABLE,
                       "Redis does not answer. Send the same request again.");
        return;
    }
    json_object *answer = stats_json(call.id, &stats, (size_t)samples);
    response_json_object(response, 200, answer);
    (void)json_object_put(answer);
}
