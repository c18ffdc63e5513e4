#include "fcgi-app/order/coupons/coupon_refusal.h"

#include "fcgi-app/http/problem.h"
#include "fcgi-app/order/coupons/coupon_answer.h"

void coupon_refusal_sold_out(const struct request *request, struct response *response)
{
    problem_answer(request, response, PROBLEM_SOLD_OUT,
                   "All coupons of this event have been issued.");
}

void coupon_refusal_busy(const struct request *request, struct response *response)
{
    problem_answer(request, response, PROBLEM_COUPON_BUSY,
                   "The last coupons are being issued. Send the same request again: one of them "
                   "may become free.");
}

void coupon_refusal_answer(const struct request *request, struct response *response,
                           enum coupon_outcome outcome)
{
    switch (outcome) {
    case COUPON_NOT_OPEN:
        problem_answer(request, response, PROBLEM_EVENT_NOT_OPEN,
                       "The event is not open yet. The entry token is still valid.");
        return;
    case COUPON_ENDED:
        problem_answer(request, response, PROBLEM_EVENT_ENDED,
                       "The event is over: no more coupons are issued.");
        return;
    case COUPON_EPOCH:
        problem_answer_outcome(request, response, OUTCOME_ENTRY_TOKEN_INVALID);
        return;
    case COUPON_INCARNATION:
        problem_answer_outcome(request, response, OUTCOME_ADMISSION_UNAVAILABLE);
        return;
    default:
        coupon_answer_failure(request, response, outcome);
        return;
    }
}
