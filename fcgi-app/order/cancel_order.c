/*
 * POST /v1/orders/{id}/cancel — give an unpaid order back.
 *
 * Reply     200 the order, CANCELED; the same again for one that was canceled before
 * Errors    401 UNAUTHENTICATED, 404 NOT_FOUND (another's too), 409 ORDER_NOT_CANCELABLE,
 *           503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/order_cancel.sql, availability.sql, seats_of_order.sql; lua/place_free.lua,
 *           sold_out.lua, seats_tell.lua. Redis may be away: the outbox tells it later.
 */
#include "fcgi-app/http/caller.h"
#include "fcgi-app/http/problem.h"
#include "fcgi-app/order/order_answer.h"
#include "fcgi-app/pool/handler.h"
#include "lib/orders/availability.h"
#include "lib/orders/seat_publication.h"

/* What Redis has to hear of it soon; should it fail, the outbox does it. */
static void tell_redis(const struct services *services, const struct request *request,
                       struct str member, const struct order_cancellation *cancellation)
{
    const struct order *order = &cancellation->order;

    if (order->place_held) {
        (void)place_free(services->redis, request->arena, order->queue, member, order->id);
    }
    if (order->show.n > 0) {
        (void)order_seats_tell(services->postgres, services->redis, request->arena, order->id);
    }
    if (cancellation->came_back) {
        (void)availability_publish(services->postgres, services->redis, request->arena,
                                   order->queue, false);
    }
}

void cancel_order(const struct services *services, const struct request *request,
                  struct response *response)
{
    struct caller caller;
    struct order_cancellation cancellation;

    if (!caller_require(services, request, response, &caller)) {
        return;
    }
    enum order_outcome outcome = ORDER_NONE;
    if (order_id_is_valid(request->parameters[0])) {
        outcome = order_cancel(services->postgres, request->arena, caller.id,
                               request->parameters[0], &cancellation);
    }
    if (outcome == ORDER_NOT_CANCELABLE) {
        problem_answer(request, response, PROBLEM_ORDER_NOT_CANCELABLE,
                       "The order is %.*s: only an unpaid one can be canceled.",
                       STR_ARG(cancellation.status));
        return;
    }
    if (outcome != ORDER_FOUND) {
        order_answer_failure(request, response, outcome);
        return;
    }
    tell_redis(services, request, caller.id, &cancellation);
    order_answer_log(LOG_LEVEL_INFO, "order.canceled", &cancellation.order, caller.id);
    order_answer(response, 200, &cancellation.order);
}
