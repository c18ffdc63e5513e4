/*
 * GET /v1/admin/coupon-events/{event}/coupons[?after=MEMBER] — who got what, by member.
 *
 * Reply     200 {"coupons": [{"member", "code", "issuedAt", "epoch", "number"}], "next":
 *           MEMBER|null}, a thousand a page
 * Errors    401 UNAUTHENTICATED, 403 FORBIDDEN, 404 NOT_FOUND, 400 INVALID_REQUEST,
 *           503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/coupons/coupon_event_find.sql, coupons_page.sql; never Redis
 * Roles     operator
 */
#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/coupons/coupon_event_answer.h"
#include "fcgi-app/operator/operator_call.h"
#include "fcgi-app/pool/handler.h"

enum { COUPONS_PER_PAGE = 1000, AFTER_MAX = 128 };

void get_coupons(const struct services *services, const struct request *request,
                 struct response *response)
{
    struct operator_call call;
    struct coupon_event event;
    const struct coupon_owner *owners;
    size_t count;
    struct str after = str_sized(NULL, 0);

    if (!operator_begin(services, request, response, false, &call) ||
        !coupon_event_require(services, request, response, call.id, &event)) {
        return;
    }
    if (request_query(request, STR("after"), &after) && (after.n == 0 || after.n > AFTER_MAX)) {
        problem_answer(request, response, PROBLEM_INVALID_REQUEST,
                       "after must be the `next` of the previous page.");
        return;
    }
    enum coupon_outcome outcome = coupons_page(services->postgres, request->arena, call.id, after,
                                               COUPONS_PER_PAGE, &owners, &count);
    if (outcome != COUPON_FOUND) {
        (void)coupon_event_refuse(request, response, outcome, call.id);
        return;
    }
    json_object *answer = json_object_new_object();
    json_object *list = json_object_new_array();
    for (size_t i = 0; i < count; i++) {
        json_object *coupon = json_object_new_object();
        json_object_object_add(coupon, "member", text_json(owners[i].member));
        json_object_object_add(coupon, "code", text_json(owners[i].code));
        json_object_object_add(coupon, "issuedAt", time_json(owners[i].issued_ms));
        json_object_object_add(coupon, "epoch", json_object_new_int64(owners[i].epoch));
        json_object_object_add(coupon, "number", json_object_new_int64(owners[i].seq));
        json_object_array_add(list, coupon);
    }
    json_object_object_add(answer, "coupons", list);
    json_object_object_add(answer, "next",
                           count == COUPONS_PER_PAGE ? text_json(owners[count - 1].member) : NULL);
    response_json_object(response, 200, answer);
    (void)json_object_put(answer);
}
