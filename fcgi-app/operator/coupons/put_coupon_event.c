/*
 * PUT /v1/admin/coupon-events/{event} — creates or replaces an event; its coupons are added by
 * POST …/codes.
 *
 * Request   {"name", "queue", "opensAt": null, "endsAt": null, "captcha":
 *           "none"|"altcha"|"siteverify"}; null and false are "none", true is "altcha"; the other
 *           fields of GET's answer are ignored
 * Reply     201 the new event, 200 the changed one, as GET returns it
 * Errors    401 UNAUTHENTICATED, 403 FORBIDDEN, 400 INVALID_REQUEST with the pointer, also if the
 *           queue of an event with issued coupons would change; 409 QUEUE_BUSY: the queue to be
 *           left has members who came for the event; 503 ORDERS_UNAVAILABLE,
 *           503 ADMISSION_UNAVAILABLE: Redis does not answer whether it has
 * Touches   sql/queries/coupons/coupon_event_find.sql, coupon_event_put.sql, availability.sql,
 *           lua/goods/sold_out.lua; lua/queues/stats.lua if the queue changes
 * Roles     operator
 */
#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/body_reader.h"
#include "fcgi-app/operator/coupons/coupon_event_answer.h"
#include "fcgi-app/operator/operator_call.h"
#include "fcgi-app/pool/handler.h"
#include "lib/admission/queues/queue_setting_value.h"
#include "lib/admission/queues/queue_stats.h"
#include "lib/base/clock.h"
#include "lib/base/identifier.h"
#include "lib/base/log.h"
#include "lib/database/goods/availability.h"

static bool read_time(json_object *value, int64_t *ms)
{
    *ms = COUPON_NO_TIME;
    return value == NULL || (rfc3339_parse(body_text(value), ms) && *ms >= 0);
}

static bool captcha_is_known(struct str word)
{
    return str_equal(word, STR("none")) || str_equal(word, STR("altcha")) ||
           str_equal(word, STR("siteverify"));
}

/* true means our own captcha. Empty for an unknown word. */
static struct str captcha_word(json_object *value)
{
    if (value == NULL) {
        return STR("none");
    }
    if (json_object_is_type(value, json_type_boolean)) {
        return json_object_get_boolean(value) ? STR("altcha") : STR("none");
    }
    return body_text(value);
}

static bool read_event(const struct request *request, struct response *response, json_object *body,
                       struct coupon_event *event)
{
    static const char *const FIELDS[] = {"name",    "queue",     "opensAt",   "endsAt",
                                         "captcha", "event",     "coupons",   "issued",
                                         "left",    "createdAt", "updatedAt", NULL};
    const struct body_reader reader = {.request = request, .response = response};

    if (!body_only_known(&reader, body, "", FIELDS) ||
        !body_read_text(&reader, json_object_object_get(body, "name"), "/name", 1,
                        COUPON_EVENT_NAME_MAX, false, &event->name)) {
        return false;
    }
    event->queue = body_text(json_object_object_get(body, "queue"));
    if (!identifier_is_slug(event->queue)) {
        return body_refuse(&reader, "/queue", "queue must be the id of the event's queue.");
    }
    if (!read_time(json_object_object_get(body, "opensAt"), &event->opens_ms)) {
        return body_refuse(&reader, "/opensAt",
                           "opensAt must be an RFC 3339 time with a zone, or null.");
    }
    if (!read_time(json_object_object_get(body, "endsAt"), &event->ends_ms)) {
        return body_refuse(&reader, "/endsAt",
                           "endsAt must be an RFC 3339 time with a zone, or null.");
    }
    if (event->opens_ms != COUPON_NO_TIME && event->ends_ms != COUPON_NO_TIME &&
        event->ends_ms <= event->opens_ms) {
        return body_refuse(&reader, "/endsAt", "endsAt must be later than opensAt.");
    }
    event->captcha = captcha_word(json_object_object_get(body, "captcha"));
    return captcha_is_known(event->captcha) ||
           body_refuse(&reader, "/captcha", "captcha must be none, altcha or siteverify.");
}

/** True if the event is new or stays with its queue, or the queue that it leaves is empty. */
static bool may_move(const struct services *services, const struct request *request,
                     struct response *response, const struct coupon_event *wanted)
{
    struct coupon_event old;
    struct queue_stats stats;
    enum coupon_outcome found =
        coupon_event_find(services->postgres, request->arena, wanted->id, false, &old);

    if (found == COUPON_NO_SUCH || (found == COUPON_FOUND && str_equal(old.queue, wanted->queue))) {
        return true;
    }
    if (found != COUPON_FOUND) {
        return coupon_event_refuse(request, response, found, wanted->id);
    }
    const redisReply *reply =
        redis_call(services->redis, request->arena, queue_stats_ask(request->arena, old.queue, 1));
    enum outcome outcome = queue_stats_read(reply, request->arena, &stats);
    if (outcome == OUTCOME_NOT_FOUND) {
        return true;
    }
    if (outcome != OUTCOME_OK) {
        problem_answer(
            request, response, PROBLEM_ADMISSION_UNAVAILABLE,
            "Redis does not answer, so members may wait for this event; nothing was changed.");
        return false;
    }
    if (stats.waiting + stats.away + stats.ready + stats.claimed > 0) {
        problem_answer(
            request, response, PROBLEM_QUEUE_BUSY,
            "Members are in the queue %.*s for this event. Drain it before you move the event.",
            STR_ARG(old.queue));
        return false;
    }
    return true;
}

static void publish(const struct services *services, const struct request *request,
                    struct str queue)
{
    if (!availability_publish(services->postgres, services->redis, request->arena, queue, false)) {
        log_event(LOG_LEVEL_WARNING, "coupons.availability_later",
                  LOG_FIELDS(LOG_STR("queue", queue)));
    }
}

void put_coupon_event(const struct services *services, const struct request *request,
                      struct response *response)
{
    struct operator_call call;

    if (!operator_begin(services, request, response, false, &call)) {
        return;
    }
    struct coupon_event event = {.id = call.id};
    json_object *body = operator_body(request, response);
    if (body == NULL || !read_event(request, response, body, &event) ||
        !may_move(services, request, response, &event)) {
        return;
    }
    enum coupon_outcome outcome =
        coupon_event_put(services->postgres, request->arena, &event, &call.author);
    switch (outcome) {
    case COUPON_CREATED:
    case COUPON_FOUND:
        operator_log_change("coupon_event.changed", &call,
                            outcome == COUPON_CREATED ? "create" : "change");
        publish(services, request, event.queue);
        coupon_event_answer(services, request, response, outcome == COUPON_CREATED ? 201 : 200,
                            call.id);
        return;
    case COUPON_QUEUE_GONE:
        problem_answer_at(request, response, "/queue", "There is no queue %.*s.",
                          STR_ARG(event.queue));
        return;
    case COUPON_QUEUE_FIXED:
        problem_answer_at(request, response, "/queue",
                          "Some of its coupons are already issued, so its queue cannot change.");
        return;
    default:
        (void)coupon_event_refuse(request, response, outcome, call.id);
        return;
    }
}
