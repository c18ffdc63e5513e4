/*
 * GET /v1/admin/payments/{payment} — one payment and everything that happened to it.
 *
 * Reply     200 a payment, see payment_answer.h, with "events": [{"from" (null: created), "to",
 *           "why", "at"}, …], the oldest first
 * Errors    401 UNAUTHENTICATED, 404 NOT_FOUND, 503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/payments/payments_page.sql, payment_events.sql; never Redis
 * Roles     operator, viewer
 */
#include "fcgi-app/operator/operator_call.h"
#include "fcgi-app/operator/payments/payment_answer.h"
#include "fcgi-app/pool/handler.h"

static json_object *events_json(const struct payment_event *events, size_t count)
{
    json_object *answer = json_object_new_array();

    for (size_t i = 0; i < count; i++) {
        json_object *event = json_object_new_object();
        json_object_object_add(event, "from",
                               events[i].from.n > 0 ? text_json(events[i].from) : NULL);
        json_object_object_add(event, "to", text_json(events[i].to));
        json_object_object_add(event, "why", text_json(events[i].why));
        json_object_object_add(event, "at", time_json(events[i].at_ms));
        json_object_array_add(answer, event);
    }
    return answer;
}

void get_payment(const struct services *services, const struct request *request,
                 struct response *response)
{
    struct operator_call call;
    struct payment_seen *payment = NULL;
    struct payment_event *events = NULL;
    size_t count = 0;
    size_t event_count = 0;

    if (!operator_begin(services, request, response, true, &call)) {
        return;
    }
    const struct payment_filter filter = {.id = call.id};
    if (payment_id_is_valid(call.id) &&
        !operator_store_answered(
            services, request, response,
            payment_admin_page(services->postgres, request->arena, &filter, 1, &payment, &count))) {
        return;
    }
    if (count == 0) {
        payment_not_found(request, response);
        return;
    }
    if (!operator_store_answered(services, request, response,
                                 payment_admin_events(services->postgres, request->arena, call.id,
                                                      &events, &event_count))) {
        return;
    }
    json_object *answer = payment_answer_json(payment);
    json_object_object_add(answer, "events", events_json(events, event_count));
    response_json_object(response, 200, answer);
    (void)json_object_put(answer);
}
