/*
 * GET /v1/coupon-events/{event}/result — how the event went, for everyone: without member ids and
 * codes.
 *
 * Reply     200 {"event", "queue", "state", "issued", "left", "firstIssuedAt", "lastIssuedAt",
 *           "numbersServed": [{"epoch", "numbers": "1-68,70-71"}], "opensAt", "endsAt",
 *           "serverTime"}, cacheable for 10 s
 * Errors    404 NOT_FOUND, 503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/coupons/coupon_result.sql
 */
#include "fcgi-app/order/coupons/coupon_answer.h"
#include "fcgi-app/pool/handler.h"

/* "1:1-68,70-71 2:5-5" */
static void add_served(struct buffer *body, struct str served)
{
    buffer_add(body, STR(",\"numbersServed\":["));
    for (bool first = true; served.n > 0; first = false) {
        struct str run;
        struct str epoch;
        struct str numbers;
        (void)str_split(served, ' ', &run, &served);
        (void)str_split(run, ':', &epoch, &numbers);
        buffer_format(body, "%s{\"epoch\":%.*s,\"numbers\":", first ? "" : ",", STR_ARG(epoch));
        buffer_add_json_string(body, numbers);
        buffer_add_char(body, '}');
    }
    buffer_add_char(body, ']');
}

void get_coupon_result(const struct services *services, const struct request *request,
                       struct response *response)
{
    struct buffer *body = &response->body;
    struct coupon_result result;
    enum coupon_outcome outcome =
        coupon_result_read(services->postgres, request->arena, request->parameters[0], &result);

    if (outcome != COUPON_FOUND) {
        coupon_answer_failure(request, response, outcome);
        return;
    }
    response_json(response, 200);
    response->cache_control = "public, max-age=10";
    buffer_add(body, STR("{\"event\":"));
    buffer_add_json_string(body, result.event);
    coupon_answer_text(body, "queue", result.queue);
    coupon_answer_text(
        body, "state",
        str_of(coupon_answer_state(result.opens_ms, result.ends_ms, result.now_ms, result.left)));
    coupon_answer_number(body, "issued", result.issued);
    coupon_answer_number(body, "left", result.left);
    coupon_answer_time(body, "firstIssuedAt", result.first_ms);
    coupon_answer_time(body, "lastIssuedAt", result.last_ms);
    add_served(body, result.served);
    coupon_answer_time(body, "opensAt", result.opens_ms);
    coupon_answer_time(body, "endsAt", result.ends_ms);
    coupon_answer_time(body, "serverTime", result.now_ms);
    buffer_add_char(body, '}');
}
