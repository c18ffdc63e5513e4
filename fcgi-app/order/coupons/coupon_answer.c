#include "fcgi-app/order/coupons/coupon_answer.h"

#include "fcgi-app/http/problem.h"

void coupon_answer_time(struct buffer *out, const char *name, int64_t ms)
{
    buffer_format(out, ",\"%s\":", name);
    buffer_add_json_time(out, ms);
}

const char *coupon_answer_state(int64_t opens_ms, int64_t ends_ms, int64_t now_ms, int64_t left)
{
    if (ends_ms != COUPON_NO_TIME && now_ms >= ends_ms) {
        return "ENDED";
    }
    if (opens_ms != COUPON_NO_TIME && now_ms < opens_ms) {
        return "PRE_OPEN";
    }
    return left == 0 ? "SOLD_OUT" : "OPEN";
}

void coupon_answer_text(struct buffer *out, const char *name, struct str text)
{
    buffer_format(out, ",\"%s\":", name);
    buffer_add_json_string(out, text);
}

void coupon_answer_number(struct buffer *out, const char *name, int64_t number)
{
    buffer_format(out, ",\"%s\":%lld", name, (long long)number);
}

void coupon_answer(struct response *response, int status, struct str event,
                   const struct coupon *coupon)
{
    struct buffer *body = &response->body;

    response_json(response, status);
    buffer_add(body, STR("{\"event\":"));
    buffer_add_json_string(body, event);
    buffer_add(body, STR(",\"code\":"));
    buffer_add_json_string(body, coupon->code);
    coupon_answer_time(body, "issuedAt", coupon->issued_ms);
    buffer_add(body, STR(",\"alreadyIssued\":"));
    buffer_add(body, status == 201 ? STR("false}") : STR("true}"));
}

void coupon_answer_failure(const struct request *request, struct response *response,
                           enum coupon_outcome outcome)
{
    switch (outcome) {
    case COUPON_NO_SUCH:
    case COUPON_EVENT_GONE:
    case COUPON_QUEUE_GONE:
        problem_answer(request, response, PROBLEM_NOT_FOUND, "There is no such coupon event.");
        return;
    case COUPON_EVENT_MOVED:
    case COUPON_UNAVAILABLE:
    case COUPON_UNKNOWN:
        problem_answer(request, response, PROBLEM_ORDERS_UNAVAILABLE,
                       "Coupons cannot be reached at the moment. Send the same request again.");
        return;
    default:
        problem_answer(request, response, PROBLEM_INTERNAL_ERROR,
                       "Nothing was changed. Send the same request again; if it fails again, "
                       "report the instance.");
        return;
    }
}
