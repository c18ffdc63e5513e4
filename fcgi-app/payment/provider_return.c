#include "fcgi-app/payment/provider_return.h"

#include "fcgi-app/http/problem.h"
#include "fcgi-app/payment/payment_call.h"
#include "lib/base/random.h"

enum { PURPOSE_MAX = 256 };

/* True for a request that no person made: a prefetch by the browser, or a probe. */
static bool is_prefetch_or_probe(const struct request *request)
{
    struct str purposes[3] = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    const struct request_parameter wanted[] = {
        {STR("HTTP_SEC_PURPOSE"), &purposes[0], PURPOSE_MAX},
        {STR("HTTP_PURPOSE"), &purposes[1], PURPOSE_MAX},
        {STR("HTTP_X_MOZ"), &purposes[2], PURPOSE_MAX},
    };
    bool looks = !request_parameters(request, wanted, sizeof(wanted) / sizeof(*wanted)) ||
                 request->method == METHOD_HEAD;

    for (size_t i = 0; i < sizeof(purposes) / sizeof(*purposes); i++) {
        looks = looks || str_starts(purposes[i], STR("prefetch")) ||
                str_starts(purposes[i], STR("prerender"));
    }
    return looks;
}

static void answer_forbidden(const struct request *request, struct response *response)
{
    problem_answer(request, response, PROBLEM_FORBIDDEN,
                   "This address does not belong to a payment of this order. Nothing was changed.");
}

static void answer_result(const struct services *services, const struct request *request,
                          struct response *response, const char *word)
{
    const char *page = services->settings->payment_result_url;
    struct str ignored, query;
    bool has_query = str_split(str_of(page), '?', &ignored, &query);
    const char *location =
        arena_format(request->arena, "%s%sorder=%.*s&payment=%s", page, has_query ? "&" : "?",
                     STR_ARG(request->parameters[0]), word);

    response->status = 303;
    response_header(response, "Location", str_of(location));
}

void provider_return_answer(const struct services *services, const struct request *request,
                            struct response *response, enum payment_returned_as as)
{
    static const char *const WORDS[] = {
        [PAYMENT_RETURNED_PAID] = "paid",       [PAYMENT_RETURNED_CONFIRMING] = "confirming",
        [PAYMENT_RETURNED_REFUSED] = "refused", [PAYMENT_RETURNED_REFUNDED] = "refunded",
        [PAYMENT_RETURNED_STOPPED] = "stopped", [PAYMENT_RETURNED_UNAVAILABLE] = "unavailable",
    };

    if (as == PAYMENT_RETURNED_FORBIDDEN) {
        answer_forbidden(request, response);
    } else if (as == PAYMENT_RETURNED_NO_STORE) {
        problem_answer(request, response, PROBLEM_ORDERS_UNAVAILABLE,
                       "Orders cannot be reached at the moment. Load this page again.");
    } else {
        answer_result(services, request, response, WORDS[as]);
    }
    response_header(response, "Referrer-Policy", STR("no-referrer"));
}

bool provider_return_state(const struct request *request, struct response *response,
                           struct str *state)
{
    if (is_prefetch_or_probe(request)) {
        response->status = 204;
        return false;
    }
    if (!order_id_is_valid(request->parameters[0]) ||
        !request_query(request, STR("state"), state) || state->n != RANDOM_TOKEN_TEXT) {
        answer_forbidden(request, response);
        response_header(response, "Referrer-Policy", STR("no-referrer"));
        return false;
    }
    return true;
}

void provider_return_stop(const struct services *services, const struct request *request,
                          struct response *response, bool failed)
{
    const struct payment_flow flow = payment_call_flow(services);
    struct str state;

    if (provider_return_state(request, response, &state)) {
        provider_return_answer(
            services, request, response,
            payment_flow_stop(&flow, request->arena, request->parameters[0], state, failed));
    }
}
