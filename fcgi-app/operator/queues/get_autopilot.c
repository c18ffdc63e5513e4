/*
 * GET /v1/admin/queues/{queue}/autopilot — the rate in force, and its recent changes.
 *
 * Reply     200 {"queue", "enabled", "settings", "ratePerSecond", "ratePerSecondInForce", "floor",
 *           "ceiling", "last", "moves"}; settings: the queue's `autopilot`, null if it has none;
 *           floor, ceiling: their values in force, null while it is off; last: the last evaluation,
 *           null before the first; moves: at most 200, oldest first. Each is {"at", "from", "to",
 *           "reason", "orderP95Ms", "originP95Ms", "dropShare", "noShowShare", "waiting"}
 * Errors    401 UNAUTHENTICATED, 404 NOT_FOUND, 503 ORDERS_UNAVAILABLE, 503 ADMISSION_UNAVAILABLE
 * Touches   lua/autopilot/autopilot_read.lua; sql/queries/queues/queue_get.sql if Redis does not
 *           know the queue
 * Roles     operator, viewer
 */
#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/queues/queue_answer.h"
#include "fcgi-app/pool/handler.h"
#include "lib/admission/autopilot/autopilot_store.h"
#include "lib/admission/queues/queue_setting_value.h"

enum { NUMBER_TEXT = 32 };

static json_object *parsed(struct arena *arena, struct str text)
{
    return text.n == 0 ? NULL : json_tokener_parse(arena_copy(arena, text));
}

/* A plain decimal, null if there is none. */
static json_object *number_of(struct arena *arena, struct str text)
{
    json_object *read = text.n > 0 && text.n < NUMBER_TEXT ? parsed(arena, text) : NULL;
    json_object *number =
        read == NULL ? NULL : queue_setting_number_json(json_object_get_double(read));

    (void)json_object_put(read);
    return number;
}

static json_object *autopilot_json(struct arena *arena, struct str queue,
                                   const struct autopilot_history *history)
{
    json_object *answer = json_object_new_object();
    json_object *moves = json_object_new_array();

    json_object_object_add(answer, "queue", text_json(queue));
    json_object_object_add(answer, "enabled", json_object_new_boolean(history->ceiling.n > 0));
    json_object_object_add(answer, "settings", parsed(arena, history->setting));
    json_object_object_add(answer, "ratePerSecond", number_of(arena, history->rate));
    json_object_object_add(answer, "ratePerSecondInForce",
                           queue_setting_number_json((double)history->in_force_milli / 1000));
    json_object_object_add(answer, "floor", number_of(arena, history->floor));
    json_object_object_add(answer, "ceiling", number_of(arena, history->ceiling));
    json_object_object_add(answer, "last", parsed(arena, history->last));
    for (size_t i = 0; i < history->move_count; i++) {
        json_object_array_add(moves, parsed(arena, history->moves[i]));
    }
    json_object_object_add(answer, "moves", moves);
    return answer;
}

void get_autopilot(const struct services *services, const struct request *request,
                   struct response *response)
{
    struct operator_call call;
    struct autopilot_history history;

    if (!operator_begin(services, request, response, true, &call)) {
        return;
    }
    enum outcome outcome =
        autopilot_history_read(services->redis, request->arena, call.id, &history);
    if (outcome == OUTCOME_NOT_FOUND) {
        queue_answer_unknown(services, request, response, call.id);
        return;
    }
    if (outcome != OUTCOME_OK) {
        problem_answer(request, response, PROBLEM_ADMISSION_UNAVAILABLE,
                       "Redis does not answer. Send the same request again.");
        return;
    }
    json_object *answer = autopilot_json(request->arena, call.id, &history);
    response_json_object(response, 200, answer);
    (void)json_object_put(answer);
}
