/*
 * GET /v1/coupon-events/{event} — an event's public state and what is left, the same for everyone.
 *
 * Reply     200 {"event", "name", "queue", "state", "opensAt", "endsAt", "captcha", "coupons",
 *           "issued", "left", "serverTime"}, cacheable for 1 s. state: PRE_OPEN, OPEN, SOLD_OUT,
 *           ENDED, by PostgreSQL's clock. left counts a coupon until its issue is committed. One
 *           round trip to Redis; PostgreSQL is queried for the event once a second and worker, and
 *           for the counts only if Redis does not know them
 *
 * GET /v1/coupon-events/{event}/result — how the event went, for everyone: without member ids and
 * codes.
 *
 * Reply     200 {"event", "queue", "state", "issued", "left", "firstIssuedAt", "lastIssuedAt",
 *           "numbersServed": [{"epoch", "numbers": "1-68,70-71"}], "opensAt", "endsAt",
 *           "serverTime"}, cacheable for 10 s
 * Errors    404 NOT_FOUND, 503 ORDERS_UNAVAILABLE
 * Touches   lua/coupon_standing.lua; sql/queries/coupon_event_find.sql, coupon_result.sql
 */
#include "fcgi-app/order/coupons/coupon_answer.h"
#include "fcgi-app/order/coupons/coupon_event_cache.h"
#include "fcgi-app/pool/handler.h"
#include "lib/admission/coupons/coupons.h"

static const char *state_of(int64_t opens_ms, int64_t ends_ms, int64_t now_ms, int64_t left)
{
    if (ends_ms != COUPON_NO_TIME && now_ms >= ends_ms) {
        return "ENDED";
    }
    if (opens_ms != COUPON_NO_TIME && now_ms < opens_ms) {
        return "PRE_OPEN";
    }
    return left == 0 ? "SOLD_OUT" : "OPEN";
}

static void add_text(struct buffer *body, const char *name, struct str text)
{
    buffer_format(body, ",\"%s\":", name);
    buffer_add_json_string(body, text);
}

static void add_number(struct buffer *body, const char *name, int64_t number)
{
    buffer_format(body, ",\"%s\":%lld", name, (long long)number);
}

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
    add_text(body, "name", event.name);
    add_text(body, "queue", event.queue);
    add_text(body, "state",
             str_of(state_of(event.opens_ms, event.ends_ms, event.now_ms, event.left)));
    coupon_answer_time(body, "opensAt", event.opens_ms);
    coupon_answer_time(body, "endsAt", event.ends_ms);
    add_text(body, "captcha", event.captcha);
    add_number(body, "coupons", event.issued + event.left);
    add_number(body, "issued", event.issued);
    add_number(body, "left", event.left);
    coupon_answer_time(body, "serverTime", event.now_ms);
    buffer_add_char(body, '}');
}

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
    add_text(body, "queue", result.queue);
    add_text(body, "state",
             str_of(state_of(result.opens_ms, result.ends_ms, result.now_ms, result.left)));
    add_number(body, "issued", result.issued);
    add_number(body, "left", result.left);
    coupon_answer_time(body, "firstIssuedAt", result.first_ms);
    coupon_answer_time(body, "lastIssuedAt", result.last_ms);
    add_served(body, result.served);
    coupon_answer_time(body, "opensAt", result.opens_ms);
    coupon_answer_time(body, "endsAt", result.ends_ms);
    coupon_answer_time(body, "serverTime", result.now_ms);
    buffer_add_char(body, '}');
}
