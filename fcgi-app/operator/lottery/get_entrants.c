/*
 * GET /v1/admin/queues/{queue}/lottery/entrants[?after=N] — the list that the draw was held from,
 * in its order, from which the list's hash can be computed again. Only Redis has it.
 *
 * Reply     200 {"entrants": ["number member", …], "next": N|null}: next is the `after` of the next
 *           page
 * Errors    401 UNAUTHENTICATED, 403 FORBIDDEN, 400 INVALID_REQUEST, 404 NOT_FOUND,
 *           503 ADMISSION_UNAVAILABLE, 503 ORDERS_UNAVAILABLE
 * Touches   the list of the draw in Redis; sql/queries/queues/queue_get.sql if it is empty
 * Roles     operator
 */
#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/operator_call.h"
#include "fcgi-app/operator/queues/queue_answer.h"
#include "fcgi-app/pool/handler.h"
#include "lib/admission/lottery/lottery_state.h"
#include "lib/store/redis.h"

enum { ENTRANTS_PER_PAGE = 5000 };

void get_entrants(const struct services *services, const struct request *request,
                  struct response *response)
{
    struct operator_call call;
    struct str value;
    int64_t after = 0;
    size_t count = 0;

    if (!operator_begin(services, request, response, false, &call)) {
        return;
    }
    if (request_query(request, STR("after"), &value) &&
        !str_to_int64(value, 0, INT64_MAX / 2, &after)) {
        problem_answer(request, response, PROBLEM_INVALID_REQUEST,
                       "after must be a whole number from 0 on.");
        return;
    }
    const struct str *lines = lottery_entrants_read(
        redis_call(services->redis, request->arena,
                   lottery_entrants_ask(request->arena, call.id, after, ENTRANTS_PER_PAGE)),
        request->arena, &count);
    if (lines == NULL) {
        problem_answer(request, response, PROBLEM_ADMISSION_UNAVAILABLE,
                       "Redis does not answer. Send the same request again.");
        return;
    }
    if (!queue_list_is_real(services, request, response, call.id, count)) {
        return;
    }
    json_object *answer = json_object_new_object();
    json_object *entrants = json_object_new_array();
    for (size_t i = 0; i < count; i++) {
        json_object_array_add(entrants, text_json(lines[i]));
    }
    json_object_object_add(answer, "entrants", entrants);
    json_object_object_add(
        answer, "next",
        count == ENTRANTS_PER_PAGE ? json_object_new_int64(after + ENTRANTS_PER_PAGE) : NULL);
    response_json_object(response, 200, answer);
    (void)json_object_put(answer);
}
