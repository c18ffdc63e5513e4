/*
 * GET /v1/orders/{id} — one of the caller's orders.
 *
 * Reply     200 the order
 * Errors    401 UNAUTHENTICATED, 404 NOT_FOUND (another member's too), 503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/orders/order_find.sql; never Redis
 */
#include "fcgi-app/http/caller.h"
#include "fcgi-app/order/orders/order_answer.h"
#include "fcgi-app/pool/handler.h"

void get_order(const struct services *services, const struct request *request,
               struct response *response)
{
    struct caller caller;
    struct order order;

    if (!caller_require(services, request, response, &caller)) {
        return;
    }
    enum order_outcome outcome = ORDER_NONE;
    if (order_id_is_valid(request->parameters[0])) {
        outcome = order_find(services->postgres, request->arena, caller.id, request->parameters[0],
                             &order);
    }
    if (outcome != ORDER_FOUND) {
        order_answer_failure(request, response, outcome);
        return;
    }
    order_answer(response, 200, &order);
}
