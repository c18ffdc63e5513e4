/*
 * GET /v1/admin/queues/{queue}/history[?from=…][&to=…][&step=60..86400] — the statistics of the
 * last hours and days, one point a step. The default step is the smallest that gives at most
 * HISTORY_POINTS_MAX points; the default `from` is six hours ago.
 *
 * Reply     200 {"queue", "step", "points": [a sample as in stats, …]}
 * Errors    401 UNAUTHENTICATED, 400 INVALID_REQUEST, 404 NOT_FOUND, 503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/service/history_range.sql; queue_get.sql if there are no points; never
 *           Redis
 * Roles     operator, viewer
 */
#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/queues/queue_answer.h"
#include "fcgi-app/operator/queues/stats_answer.h"
#include "fcgi-app/pool/handler.h"
#include "lib/base/clock.h"
#include "lib/database/service/history_store.h"

enum { MINUTE_S = 60, STEP_MAX_S = 86400, SPAN_USUAL_S = 6 * 3600 };

struct range {
    int64_t from_s;
    int64_t to_s;
    int64_t step_s;
};

static bool refuse(const struct request *request, struct response *response, const char *why)
{
    problem_answer(request, response, PROBLEM_INVALID_REQUEST, "%s", why);
    return false;
}

/** A time of the query in seconds, unchanged if it is missing. */
static bool read_time(const struct request *request, struct response *response, const char *name,
                      int64_t *seconds)
{
    struct str value;
    int64_t ms;

    if (!request_query(request, str_of(name), &value)) {
        return true;
    }
    if (!rfc3339_parse(value, &ms)) {
        problem_answer(request, response, PROBLEM_INVALID_REQUEST,
                       "%s must be a time like 2026-01-31T12:00:00Z.", name);
        return false;
    }
    *seconds = ms / 1000;
    return true;
}

static bool read_range(const struct request *request, struct response *response,
                       struct range *range)
{
    struct str value;

    range->to_s = clock_wall_ms() / 1000;
    if (!read_time(request, response, "to", &range->to_s)) {
        return false;
    }
    range->from_s = range->to_s - SPAN_USUAL_S;
    if (!read_time(request, response, "from", &range->from_s)) {
        return false;
    }
    if (range->from_s >= range->to_s) {
        return refuse(request, response, "from must be before to.");
    }
    /* Steps begin at multiples of their length, so the first and the last may be cut. */
    int64_t least = (range->to_s - range->from_s) / (HISTORY_POINTS_MAX - 2) + 1;
    range->step_s = (least + MINUTE_S - 1) / MINUTE_S * MINUTE_S;
    if (!request_query(request, STR("step"), &value)) {
        return true;
    }
    if (!str_to_int64(value, MINUTE_S, STEP_MAX_S, &range->step_s) ||
        range->step_s % MINUTE_S != 0) {
        return refuse(request, response, "step must be a multiple of 60 from 60 to 86400.");
    }
    return range->step_s >= least ||
           refuse(request, response,
                  "That would be more than 1500 points. Use a longer step or a shorter time.");
}

void get_history(const struct services *services, const struct request *request,
                 struct response *response)
{
    struct operator_call call;
    struct range range;
    struct queue_sample *points = NULL;
    size_t count = 0;

    if (!operator_begin(services, request, response, true, &call) ||
        !read_range(request, response, &range) ||
        !operator_store_answered(services, request, response,
                                 history_range(services->postgres, request->arena, call.id,
                                               range.from_s, range.to_s, range.step_s, &points,
                                               &count))) {
        return;
    }
    /* A deleted queue keeps its history. */
    if (!queue_list_is_real(services, request, response, call.id, count)) {
        return;
    }
    json_object *answer = json_object_new_object();
    json_object *list = json_object_new_array();
    for (size_t i = 0; i < count; i++) {
        json_object_array_add(list, sample_json(&points[i]));
    }
    json_object_object_add(answer, "queue", text_json(call.id));
    json_object_object_add(answer, "step", json_object_new_int64(range.step_s));
    json_object_object_add(answer, "points", list);
    response_json_object(response, 200, answer);
    (void)json_object_put(answer);
}
