/*
 * POST /v1/orders/{id}/payment — start paying an order.
 *
 * Reply     201 {"redirectUrl", "expiresAt"}: where the member pays, and until when; 200 with the
 *           same for a payment that is already open. A provider on this machine may name a path of
 *           the site itself: it is answered as an absolute URL, under the name by which the site
 *           was requested
 * Errors    401 UNAUTHENTICATED, 404 NOT_FOUND (another's order too), 409 ORDER_NOT_PAYABLE,
 *           409 PAYMENT_IN_PROGRESS (one is being started, or confirmed), 503 PAYMENT_UNAVAILABLE,
 *           503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/payments/payment_open.sql, payment_ready.sql, payment_start_failed.sql; the
 *           provider; never Redis
 */
#include <ctype.h>
#include <string.h>

#include "fcgi-app/http/caller.h"
#include "fcgi-app/http/cookie.h"
#include "fcgi-app/http/problem.h"
#include "fcgi-app/payment/payment_call.h"
#include "fcgi-app/pool/handler.h"
#include "lib/base/clock.h"

enum { MOBILE_MAX = 8, HOST_MAX = 260 };

/* A name or an address, with an optional port. */
static bool host_is_sound(struct str host)
{
    for (size_t i = 0; i < host.n; i++) {
        if (!isalnum((unsigned char)host.p[i]) && memchr(".-:[]_", host.p[i], 6) == NULL) {
            return false;
        }
    }
    return host.n > 0;
}

/* The scheme and host to put before a path of the site, empty if the host is unknown. */
static struct str site_address(const struct services *services, const struct request *request)
{
    struct str host = STR("");
    const struct request_parameter wanted = {STR("HTTP_HOST"), &host, HOST_MAX};

    if (services->settings->payment_public_url[0] != '\0') {
        return str_of(services->settings->payment_public_url);
    }
    if (!request_parameters(request, &wanted, 1) || !host_is_sound(host)) {
        return STR("");
    }
    return str_of(arena_format(request->arena, "%s://%.*s",
                               cookie_is_secure(services, request) ? "https" : "http",
                               STR_ARG(host)));
}

static void answer_start(const struct request *request, struct response *response,
                         const struct payment_start *start, struct str site)
{
    struct str before = str_starts(start->redirect_url, STR("/")) ? site : STR("");
    const char *address =
        arena_format(request->arena, "%.*s%.*s", STR_ARG(before), STR_ARG(start->redirect_url));
    char expires[RFC3339_TEXT + 1];

    rfc3339_format(start->expires_us / 1000, expires);
    response_json(response, start->is_new ? 201 : 200);
    buffer_add(&response->body, STR("{\"redirectUrl\":"));
    buffer_add_json_string(&response->body, str_of(address));
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
                       "The order is %.*s, so no payment can be started.",
                       STR_ARG(start->order_status));
        return;
    case PAYMENT_STARTED_NO_PROVIDER:
        problem_answer(request, response, PROBLEM_PAYMENT_UNAVAILABLE,
                       "Payments cannot be started at the moment. Nothing was charged.");
        return;
    case PAYMENT_STARTED_NO_STORE:
        problem_answer(request, response, PROBLEM_ORDERS_UNAVAILABLE,
                       "Orders cannot be reached at the moment. Send the same request again.");
        return;
    default:
        problem_answer(request, response, PROBLEM_INTERNAL_ERROR,
                       "Nothing was charged. Send the same request again; if it fails again, "
                       "report the instance.");
        return;
    }
}

/* By the header Sec-CH-UA-Mobile, which nginx sets for browsers that do not send it. */
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
    const struct str site = site_address(services, request);
    enum payment_started started = PAYMENT_STARTED_NO_ORDER;
    if (order_id_is_valid(request->parameters[0])) {
        started = payment_flow_start(&flow, request->arena, caller.id, request->parameters[0],
                                     comes_from_phone(request), &start);
    }
    if (started == PAYMENT_STARTED_OK) {
        answer_start(request, response, &start, site);
    } else {
        answer_refusal(request, response, started, &start);
    }
}
