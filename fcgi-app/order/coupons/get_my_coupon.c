/*
 * GET /v1/coupon-events/{event}/coupons/mine — the caller's coupon.
 *
 * Reply     200 {"event", "code", "issuedAt", "alreadyIssued": true}
 * Errors    401 UNAUTHENTICATED, 404 NOT_FOUND (no coupon, or no event), 503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/coupons/coupon_find.sql; never Redis
 */
#include "fcgi-app/http/caller.h"
#include "fcgi-app/http/problem.h"
#include "fcgi-app/order/coupons/coupon_answer.h"
#include "fcgi-app/pool/handler.h"

void get_my_coupon(const struct services *services, const struct request *request,
                   struct response *response)
{
    struct str event = request->parameters[0];
    struct caller caller;
    struct coupon coupon;

    if (!caller_require(services, request, response, &caller)) {
        return;
    }
    enum coupon_outcome outcome =
        coupon_find(services->postgres, request->arena, event, caller.id, &coupon);
    if (outcome == COUPON_FOUND) {
        coupon_answer(response, 200, event, &coupon);
    } else if (outcome == COUPON_NO_SUCH) {
        problem_answer(request, response, PROBLEM_NOT_FOUND, "You have no coupon of this event.");
    } else {
        coupon_answer_failure(request, response, outcome);
    }
}
