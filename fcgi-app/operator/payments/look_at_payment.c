/*
 * POST /v1/admin/payments/{payment}/look — schedules a look-up of a payment at its provider, for
 * the next pass of sluice-reconcile. Nothing else changes; the provider's answer decides.
 *
 * Reply     202 {"due": whether it will be looked up: not if it is only being started, or was
 *           refunded}
 * Errors    401 UNAUTHENTICATED, 403 FORBIDDEN, 404 NOT_FOUND, 503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/payments/payment_look.sql; never Redis
 * Roles     operator
 */
#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/operator_call.h"
#include "fcgi-app/operator/payments/payment_answer.h"
#include "fcgi-app/pool/handler.h"
#include "lib/base/log.h"

static void answer_due(struct response *response, const struct operator_call *call, bool is_due)
{
    log_event(LOG_LEVEL_INFO, "payment.look_wanted",
              LOG_FIELDS(LOG_TEXT("actor", call->author.actor), LOG_STR("payment", call->id)));
    response_json(response, 202);
    buffer_format(&response->body, "{\"due\":%s}", is_due ? "true" : "false");
}

void look_at_payment(const struct services *services, const struct request *request,
                     struct response *response)
{
    struct operator_call call;
    enum payment_stored stored = PAYMENT_STORED_NONE;

    if (!operator_begin(services, request, response, false, &call)) {
        return;
    }
    if (payment_id_is_valid(call.id)) {
        stored = payment_admin_request_lookup(services->postgres, request->arena, call.id);
    }
    switch (stored) {
    case PAYMENT_STORED_DONE:
    case PAYMENT_STORED_SAME:
        answer_due(response, &call, stored == PAYMENT_STORED_DONE);
        return;
    case PAYMENT_STORED_NONE:
        payment_not_found(request, response);
        return;
    case PAYMENT_STORED_UNAVAILABLE:
    case PAYMENT_STORED_UNKNOWN:
        problem_answer(request, response, PROBLEM_ORDERS_UNAVAILABLE,
                       "PostgreSQL cannot answer at the moment. Send the same request again.");
        return;
    default:
        problem_answer(request, response, PROBLEM_INTERNAL_ERROR, "PostgreSQL refused the query.");
        return;
    }
}
