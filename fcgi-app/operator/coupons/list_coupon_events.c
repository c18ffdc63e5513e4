/*
 * GET /v1/admin/coupon-events[?after=ID] — all coupon events, in order of their ids.
 *
 * Reply     200 {"events": [an event as its own route returns it, without coupons, issued and left,
 *           …], "next": ID|null}, five hundred a page
 * Errors    401 UNAUTHENTICATED, 400 INVALID_REQUEST, 503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/goods/coupon_events_page.sql; never Redis
 * Roles     operator, viewer
 */
#include "fcgi-app/operator/object_list.h"
#include "fcgi-app/pool/handler.h"

void list_coupon_events(const struct services *services, const struct request *request,
                        struct response *response)
{
    object_list_answer(services, request, response, OBJECT_COUPON_EVENT, "events");
}
