/*
 * GET /v1/admin/coupon-events/{event} — an event and its counts.
 *
 * Reply     200 {"event", "name", "queue", "opensAt", "endsAt", "captcha", "coupons", "issued",
 *           "left", "createdAt", "updatedAt"}
 * Errors    401 UNAUTHENTICATED, 404 NOT_FOUND, 503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/coupons/coupon_event_find.sql; never Redis
 * Roles     operator, viewer
 */
#include "fcgi-app/operator/coupons/coupon_event_answer.h"
#include "fcgi-app/operator/operator_call.h"
#include "fcgi-app/pool/handler.h"

void get_coupon_event_admin(const struct services *services, const struct request *request,
                            struct response *response)
{
    struct operator_call call;

    if (operator_begin(services, request, response, true, &call)) {
        coupon_event_answer(services, request, response, 200, call.id);
    }
}
