/*
 * POST /v1/admin/queues/{queue}/returns — the site reports that a visitor is done, so that the next
 * one is admitted immediately.
 *
 * Request   {"pass": "…"}: the value of the browser's cookie sluice_pass-<queue>
 *           (__Host-sluice_pass-<queue> under TLS)
 * Reply     204, also for a visit that has already ended
 * Errors    401 UNAUTHENTICATED, 403 FORBIDDEN, 400 INVALID_REQUEST, 404 NOT_FOUND,
 *           409 ORDER_IN_PROGRESS, 503 ORDERS_UNAVAILABLE, 503 ADMISSION_UNAVAILABLE
 * Touches   lua/members/member_end.lua; sql/queries/queues/queue_get.sql if Redis does not know the
 *           queue
 * Roles     operator
 */
#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/queues/queue_answer.h"
#include "fcgi-app/pool/handler.h"
#include "lib/admission/members/member.h"
#include "lib/identity/gate_pass.h"
#include "lib/store/redis.h"

static bool read_pass(const struct services *services, const struct request *request,
                      struct response *response, struct str queue, struct gate_pass *pass)
{
    json_object *body = operator_body(request, response);
    json_object *value = NULL;

    if (body == NULL) {
        return false;
    }
    if (!json_object_object_get_ex(body, "pass", &value) ||
        !json_object_is_type(value, json_type_string)) {
        problem_answer_at(request, response, "/pass",
                          "pass must be the value of the browser's pass cookie, as text.");
        return false;
    }
    struct str text =
        str_sized(json_object_get_string(value), (size_t)json_object_get_string_len(value));
    enum gate_pass_outcome outcome = gate_pass_verify(services->ticket_keys, text, queue, pass);
    if (outcome != GATE_PASS_VALID) {
        problem_answer_at(request, response, "/pass", "The pass is refused: %s.",
                          gate_pass_reason(outcome));
        return false;
    }
    return true;
}

void return_visit(const struct services *services, const struct request *request,
                  struct response *response)
{
    struct operator_call call;
    struct gate_pass pass;

    if (!operator_begin(services, request, response, false, &call) ||
        !read_pass(services, request, response, call.id, &pass)) {
        return;
    }
    enum outcome outcome =
        outcome_of(redis_call(services->redis, request->arena,
                              member_end(request->arena, call.id, pass.subject, pass.admission)));
    if (outcome == OUTCOME_ENDED || outcome == OUTCOME_NOT_THERE) {
        response->status = 204;
    } else if (outcome == OUTCOME_NOT_FOUND) {
        queue_answer_unknown(services, request, response, call.id);
    } else {
        problem_answer_outcome(request, response, outcome);
    }
}
