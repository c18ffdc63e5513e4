/*
 * POST /v1/orders/{id}/payment — begin to pay an order.
 *
 * Reply     201 {"redirectUrl", "expiresAt"}: where the member pays, and until when; 200 with the
 *           same for a payment that is open already
 * Errors    401 UNAUTHENTICATED, 404 NOT_FOUND (another's order too), 409 ORDER_NOT_PAYABLE,
 *           409 PAYMENT_IN_PROGRESS (one is being started, or confirmed), 503 PAYMENT_UNAVAILABLE,
 *           503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/payment_open.sql, payment_ready.sql, payment_start_failed.sql; the
 *           provider; never Redis
 */
#include "fcgi-app/http/caller.h"
#include "fcgi-app/http/problem.h"
#include "fcgi-app/payment/payment_call.h"
#include "fcgi-app/pool/handler.h"
#include "lib/base/clock.h"

enum { MOBILE_MAX = 8 };

static void answer_start(struct response *response, const struct payment_start *start)
{
    char expires[RFC3339_TEXT + 1];

    rfc3339_format(start->expires_us / 1000, expires);
    response_json(response, start->is_new ? 201 : 200);
    buffer_add(&response->body, STR("{\"redirectUrl\":"));
    buffer_add_json_string(&response->body, start->redirect_url);
    buffer_format(&response->body, ",\"expiresAt\":\"%s\"}", expires);
}

static void answer_refusal(const struct request *request, struct response *response,
                           enum payment_started started, const struct payment_start *start)
{
    switch (started) {
    case PAYMENT_STARTED_NO_ORDER:
        problem_answer(request, response, PROBLEM_NOT_FOUND, "You have no such order.");
        return;
    case PAYMENT_STARTED_IN_PROGRESS:
        problem_answer(request, response, PROBLEM_PAYMENT_IN_PROGRESS,
                       "A payment of this order is being started or confirmed.");
        return;
    case PAYMENT_STARTED_NOT_PAYABLE:
        problem_answer(request, response, PROBLEM_ORDER_NOT_PAYABLE,
                       "The order is %.*s, and no payment of it can be started (any more).",
                       STR_ARG(start->order_status));
        return;
    case PAYMENT_STARTED_NO_PROVIDER:
        problem_answer(request, response, PROBLEM_PAYMENT_UNAVAILABLE,
                       "Payments cannot be started at the moment. Nothing was taken.");
        return;
    case PAYMENT_STARTED_NO_STORE:
        problem_answer(request, response, PROBLEM_ORDERS_UNAVAILABLE,
                       "Orders cannot be reached at the moment. Send the same request again.");
        return;
    default:
        problem_answer(request, response, PROBLEM_INTERNAL_ERROR,
                       "Nothing was taken. Send the same request again; if it stays, report the "
                       "instance.");
        return;
    }
}

/* By the header Sec-CH-UA-Mobile, which nginx makes for browsers without one. */
static bool comes_from_phone(const struct request *request)
{
    struct str mobile = STR("");
    const struct request_parameter wanted = {STR("HTTP_SEC_CH_UA_MOBILE"), &mobile, MOBILE_MAX};

    return request_parameters(request, &wanted, 1) && str_equal(mobile, STR("?1"));
}

void post_payment(const struct services *services, const struct request *request,
                  struct response *response)
{
    const struct payment_flow flow = payment_call_flow(services);
    struct payment_start start = {.expires_us = -1};
    struct caller caller;

    if (!caller_require(services, request, response, &caller)) {
        return;
    }
    enum payment_started started = PAYMENT_STARTED_NO_ORDER;
    if (order_id_is_valid(request->parameters[0])) {
        started = payment_flow_start(&flow, request->arena, caller.id, request->parameters[0],
                                     comes_from_phone(request), &start);
    }
    if (started == PAYMENT_STARTED_OK) {
        answer_start(response, &start);
    } else {
        answer_refusal(request, response, started, &start);
    }
}
