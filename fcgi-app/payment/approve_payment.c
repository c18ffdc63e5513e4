/*
 * GET /v1/orders/{id}/payment/approve — back from the provider: completes the payment.
 *
 * Request   query: state=… (ours, of this payment), and what the provider adds (pg_token, or
 *           paymentKey, orderId, amount). No login: the state grants access.
 * Reply     303 to the setting payment_result_url with
 *           ?order=…&payment=paid|confirming|refused|refunded|stopped|unavailable; 204 for
 *           HEAD and for a prefetching browser: those change nothing
 * Errors    403 FORBIDDEN (not the state of a payment of this order; there may be no such order),
 *           503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/payments/payment_returns.sql, payment_approve_begin.sql and the records of
 *           payments; the provider; lua/tokens/place_free.lua, sold_out.lua. Without Redis the
 *           outbox applies them later.
 */
#include "fcgi-app/payment/payment_call.h"
#include "fcgi-app/payment/provider_return.h"
#include "fcgi-app/pool/handler.h"

void approve_payment(const struct services *services, const struct request *request,
                     struct response *response)
{
    const struct payment_flow flow = payment_call_flow(services);
    struct payment_return back = {.pg_token = {NULL, 0}};
    struct str state;

    if (!provider_return_state(request, response, &state)) {
        return;
    }
    (void)request_query(request, STR("pg_token"), &back.pg_token);
    (void)request_query(request, STR("paymentKey"), &back.payment_key);
    (void)request_query(request, STR("orderId"), &back.order_id);
    (void)request_query(request, STR("amount"), &back.amount);
    provider_return_answer(
        services, request, response,
        payment_flow_approve(&flow, request->arena, request->parameters[0], state, &back));
}
