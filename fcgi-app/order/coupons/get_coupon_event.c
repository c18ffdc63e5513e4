/*
 * GET /v1/coupon-events/{event} — an event's public state and what is left, the same for everyone.
 *
 * Reply     200 {"event", "name", "queue", "state", "opensAt", "endsAt", "captcha", "coupons",
 *           "issued", "left", "serverTime"}, cacheable for 1 s. state: PRE_OPEN, OPEN, SOLD_OUT,
 *           ENDED, by PostgreSQL's clock. left counts a coupon until its issue is committed. One
 *           round trip to Redis; PostgreSQL is queried for the event once a second and worker, and
 *           for the counts only if Redis does not know them
 * Errors    404 NOT_FOUND, 503 ORDERS_UNAVAILABLE
 * Touches   lua/coupons/coupon_standing.lua; sql/queries/coupons/coupon_event_find.sql
 */
#include "fcgi-app/order/coupons/coupon_answer.h"
#include "fcgi-app/order/coupons/coupon_event_cache.h"
#include "fcgi-app/pool/handler.h"
#include "lib/admission/coupons/coupons.h"

/* From this worker's cache and Redis; false if that is not enough. */
static bool from_redis(const struct services *services, const struct request *request,
                       const struct cached_coupon_event *known, struct coupon_event *event)
{
    struct coupon_standing standing;

    if (coupon_standing_read(services->redis, request->arena, known->queue, request->parameters[0],
                             &standing) != OUTCOME_OK) {
        return false;
    }
    int64_t left = standing.coupons - standing.issued;
    *event = (struct coupon_event){.id = request->parameters[0],
                                   .name = known->name,
                                   .queue = known->queue,
                                   .captcha = known->captcha_word,
                                   .opens_ms = known->opens_ms,
                                   .ends_ms = known->ends_ms,
                                   .now_ms = known->now_ms};
    event->left = standing.gone || left < 0 ? 0 : left;
    event->issued = standing.coupons - event->left;
    return true;
}

void get_coupon_event(const struct services *services, const struct request *request,
                      struct response *response)
{
    struct buffer *body = &response->body;
    struct str id = request->parameters[0];
    struct cached_coupon_event known;
    struct coupon_event event;
    enum coupon_outcome outcome =
        coupon_event_cache_find(services, request->arena, ASKED_BY_ANYBODY, id, &known);

    if (outcome == COUPON_FOUND && !from_redis(services, request, &known, &event)) {
        outcome = coupon_event_find(services->postgres, request->arena, id, true, &event);
    }
    if (outcome != COUPON_FOUND) {
        coupon_answer_failure(request, response, outcome);
        return;
    }
    response_json(response, 200);
    response->cache_control = "public, max-age=1";
    buffer_add(body, STR("{\"event\":"));
    buffer_add_json_string(body, event.id);
    coupon_answer_text(body, "name", event.name);
    coupon_answer_text(body, "queue", event.queue);
    coupon_answer_text(
        body, "state",
        str_of(coupon_answer_state(event.opens_ms, event.ends_ms, event.now_ms, event.left)));
    coupon_answer_time(body, "opensAt", event.opens_ms);
    coupon_answer_time(body, "endsAt", event.ends_ms);
    coupon_answer_text(body, "captcha", event.captcha);
    coupon_answer_number(body, "coupons", event.issued + event.left);
    coupon_answer_number(body, "issued", event.issued);
    coupon_answer_number(body, "left", event.left);
    coupon_answer_time(body, "serverTime", event.now_ms);
    buffer_add_char(body, '}');
}
