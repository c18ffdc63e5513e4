/*
 * POST /v1/payments/webhooks/{provider} — the provider reports a change of a payment.
 *
 * Reply     200 {"recorded": true} once the payment is marked for a look-up;
 *           {"recorded": false} if it is none of ours. Repeated, late and reordered calls have the
 *           same effect, as a look-up decides.
 *           Nothing is authenticated: a call causes a look-up at most, once a second and payment.
 * Errors    400 INVALID_REQUEST, 404 NOT_FOUND (no such provider here, or it sends no webhooks),
 *           503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/payments/payment_hint.sql
 */
#include "fcgi-app/http/problem.h"
#include "fcgi-app/payment/payment_call.h"
#include "fcgi-app/pool/handler.h"
#include "lib/base/log.h"

static void answer_recorded(struct response *response, bool recorded)
{
    response_json(response, 200);
    buffer_format(&response->body, "{\"recorded\":%s}", recorded ? "true" : "false");
}

static void record_hint(const struct services *services, const struct request *request,
                        struct response *response, const struct payment_hint *hint)
{
    struct str id;

    switch (payment_hinted(services->postgres, request->arena, request->parameters[0], hint->ref,
                           hint->id, &id)) {
    case PAYMENT_STORED_DONE:
        log_event(LOG_LEVEL_INFO, "payment.webhook", LOG_FIELDS(LOG_STR("payment", id)));
        answer_recorded(response, true);
        return;
    case PAYMENT_STORED_NONE:
        answer_recorded(response, false);
        return;
    default:
        problem_answer(request, response, PROBLEM_ORDERS_UNAVAILABLE,
                       "The webhook could not be recorded. Send it again.");
        return;
    }
}

void payment_webhook(const struct services *services, const struct request *request,
                     struct response *response)
{
    struct payment_hint hint = {.ref = {NULL, 0}};
    enum payment_notice_outcome outcome = PAYMENT_NOTICE_NONE;

    if (services->payment_provider != NULL &&
        str_equal(request->parameters[0],
                  str_of(payment_provider_name(services->payment_provider)))) {
        outcome = payment_provider_notice(services->payment_provider, request->arena, request->body,
                                          &hint);
    }
    switch (outcome) {
    case PAYMENT_NOTICE_HINT:
        record_hint(services, request, response, &hint);
        return;
    case PAYMENT_NOTICE_OTHER:
        answer_recorded(response, false);
        return;
    case PAYMENT_NOTICE_MALFORMED:
        problem_answer(request, response, PROBLEM_INVALID_REQUEST,
                       "The body is not a webhook of the provider.");
        return;
    case PAYMENT_NOTICE_NONE:
        break;
    }
    problem_answer(request, response, PROBLEM_NOT_FOUND, "There is no webhook at this address.");
}
