#include "fcgi-app/operator/coupons/coupon_event_answer.h"

#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/operator_call.h"

bool coupon_event_refuse(const struct request *request, struct response *response,
                         enum coupon_outcome outcome, struct str id)
{
    switch (outcome) {
    case COUPON_NO_SUCH:
        problem_answer(request, response, PROBLEM_NOT_FOUND, "There is no coupon event %.*s.",
                       STR_ARG(id));
        return false;
    case COUPON_UNAVAILABLE:
        problem_answer(request, response, PROBLEM_ORDERS_UNAVAILABLE,
                       "PostgreSQL cannot answer at the moment. Send the same request again.");
        return false;
    case COUPON_UNKNOWN:
        problem_answer(request, response, PROBLEM_ORDERS_UNAVAILABLE,
                       "PostgreSQL did not answer in time; the change may or may not be stored. "
                       "Send the same request again.");
        return false;
    default:
        problem_answer(request, response, PROBLEM_INTERNAL_ERROR,
                       "PostgreSQL refused the statement; nothing was changed.");
        return false;
    }
}

bool coupon_event_require(const struct services *services, const struct request *request,
                          struct response *response, struct str id, struct coupon_event *event)
{
    enum coupon_outcome outcome =
        coupon_event_find(services->postgres, request->arena, id, false, event);

    return outcome == COUPON_FOUND || coupon_event_refuse(request, response, outcome, id);
}

static json_object *time_or_null(int64_t ms)
{
    return ms == COUPON_NO_TIME ? NULL : time_json(ms);
}

void coupon_event_answer(const struct services *services, const struct request *request,
                         struct response *response, int status, struct str id)
{
    struct coupon_event event;
    enum coupon_outcome outcome =
        coupon_event_find(services->postgres, request->arena, id, true, &event);

    if (outcome != COUPON_FOUND) {
        (void)coupon_event_refuse(request, response, outcome, id);
        return;
    }
    json_object *answer = json_object_new_object();
    json_object_object_add(answer, "event", text_json(event.id));
    json_object_object_add(answer, "name", text_json(event.name));
    json_object_object_add(answer, "queue", text_json(event.queue));
    json_object_object_add(answer, "opensAt", time_or_null(event.opens_ms));
    json_object_object_add(answer, "endsAt", time_or_null(event.ends_ms));
    json_object_object_add(answer, "captcha", text_json(event.captcha));
    json_object_object_add(answer, "coupons", json_object_new_int64(event.issued + event.left));
    json_object_object_add(answer, "issued", json_object_new_int64(event.issued));
    json_object_object_add(answer, "left", json_object_new_int64(event.left));
    json_object_object_add(answer, "createdAt", time_json(event.created_ms));
    json_object_object_add(answer, "updatedAt", time_json(event.updated_ms));
    response_json_object(response, status, answer);
    (void)json_object_put(answer);
}
