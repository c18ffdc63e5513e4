/*
 * GET /v1/orders/{id}/payment/cancel — back from the provider: the member left.
 *
 * Request   query: state=… (ours, of this payment). No login: the state grants access.
 * Reply     303 to the setting payment_result_url with
 *           ?order=…&payment=paid|confirming|refused|refunded|stopped|unavailable; 204 for
 *           HEAD and for a prefetching browser: those change nothing
 * Errors    403 FORBIDDEN (not the state of a payment of this order; there may be no such order),
 *           503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/payments/payment_returns.sql, payment_stop.sql and what it publishes:
 *           seats_of_order.sql, availability.sql, lua/tokens/place_free.lua, seats_publish.lua,
 *           sold_out.lua. Without Redis the outbox applies it later. Never the provider
 */
#include "fcgi-app/payment/provider_return.h"
#include "fcgi-app/pool/handler.h"

void cancel_payment(const struct services *services, const struct request *request,
                    struct response *response)
{
    provider_return_stop(services, request, response, false);
}
