/*
 * POST /v1/orders/{id}/cancel — cancel an order: an unpaid one immediately, a paid one with a
 * refund.
 *
 * Reply     200 the order: CANCELED, also if it was already; CANCEL_REQUESTED while the refund is
 *           pending
 * Errors    401 UNAUTHENTICATED, 404 NOT_FOUND (another member's too), 409 ORDER_NOT_CANCELABLE (it
 *           has ended, or the provider refuses the refund), 409 PAYMENT_IN_PROGRESS (it is being
 *           approved, or the outcome is unknown), 503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/payments/order_cancel.sql and the records of payments, availability.sql;
 *           the provider; lua/tokens/place_free.lua, seats_publish.lua, sold_out.lua. Without Redis
 *           the outbox applies them later.
 */
#include "fcgi-app/http/caller.h"
#include "fcgi-app/http/problem.h"
#include "fcgi-app/order/orders/order_answer.h"
#include "fcgi-app/payment/payment_call.h"
#include "fcgi-app/pool/handler.h"
#include "lib/admission/tokens/claim.h"
#include "lib/database/goods/availability.h"
#include "lib/database/seats/seat_publication.h"

/* Applies it to Redis now; if that fails, the outbox does it. */
static void publish(const struct services *services, const struct request *request,
                    struct str member, const struct order_cancel *cancel)
{
    const struct order *order = &cancel->order;

    if (cancel->place_freed) {
        (void)place_free(services->redis, request->arena, order->queue, member, order->id);
    }
    if (order->show.n > 0) {
        (void)order_seats_publish(services->postgres, services->redis, request->arena, order->id);
    }
    if (cancel->came_back) {
        (void)availability_publish(services->postgres, services->redis, request->arena,
                                   order->queue, false);
    }
}

static void answer_refusal(const struct request *request, struct response *response,
                           enum payment_stored stored, struct str status)
{
    switch (stored) {
    case PAYMENT_STORED_NOT_CANCELABLE:
        problem_answer(request, response, PROBLEM_ORDER_NOT_CANCELABLE,
                       "The order has ended: it is %.*s.", STR_ARG(status));
        return;
    case PAYMENT_STORED_IN_PROGRESS:
        problem_answer(request, response, PROBLEM_PAYMENT_IN_PROGRESS,
                       "A payment of the order is being confirmed. Cancel it after that.");
        return;
    case PAYMENT_STORED_NONE:
        order_answer_failure(request, response, ORDER_NONE);
        return;
    case PAYMENT_STORED_UNAVAILABLE:
    case PAYMENT_STORED_UNKNOWN:
        order_answer_failure(request, response, ORDER_UNAVAILABLE);
        return;
    default:
        order_answer_failure(request, response, ORDER_FAILED);
        return;
    }
}

/* Refunds the payment as far as the provider allows now; reconcile completes it. Returns false if
 * the provider refuses: the order stays PAID. */
static bool refund(const struct services *services, const struct request *request,
                   struct order_cancel *cancel)
{
    const struct payment_flow flow = payment_call_flow(services);
    struct payment_effect effect = {.order_status = {NULL, 0}};

    if (payment_flow_refund(&flow, request->arena, cancel->payment, &effect) ==
        PAYMENT_STORED_DONE) {
        cancel->order.status = effect.order_status;
        cancel->order.payment = str_of(payment_phase_name(effect.phase));
    }
    return !str_equal(cancel->order.status, STR("PAID"));
}

void cancel_order(const struct services *services, const struct request *request,
                  struct response *response)
{
    struct caller caller;
    struct order_cancel cancel = {.status = {NULL, 0}};

    if (!caller_require(services, request, response, &caller)) {
        return;
    }
    enum payment_stored stored = PAYMENT_STORED_NONE;
    if (order_id_is_valid(request->parameters[0])) {
        stored = payment_order_cancel(services->postgres, request->arena, caller.id,
                                      request->parameters[0], &cancel);
    }
    if (stored != PAYMENT_STORED_DONE) {
        answer_refusal(request, response, stored, cancel.status);
        return;
    }
    publish(services, request, caller.id, &cancel);
    if (cancel.payment.n > 0 && !refund(services, request, &cancel)) {
        problem_answer(request, response, PROBLEM_ORDER_NOT_CANCELABLE,
                       "The payment provider refuses the refund. The order stays paid.");
        return;
    }
    order_answer_log(LOG_LEVEL_INFO, "order.canceled", &cancel.order, caller.id, "");
    order_answer(response, 200, &cancel.order);
}
