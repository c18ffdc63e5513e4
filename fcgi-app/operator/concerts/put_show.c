/*
 * PUT /v1/admin/shows/{show} — creates or replaces a show and its plan of seats.
 *
 * Request   {"concert", "startsAt", "queue", "maxSeatsPerMember": 4, "holdTtlSeconds": 300} and
 *           either "seats": [{"id", "section": "", "row": "", "number": "", "price": {"amount",
 *           "currency"}}, …] or "plan": {"sections": [{"name", "rows", "seatsPerRow", "price"},
 *           …]}, whose seats are called name-row-number (name-number with a single row); at most
 *           50,000. Without both the seats stay as they are. The other fields of GET's answer are
 *           ignored
 * Reply     201 the new show, 200 the changed one, as GET returns it without its seats; repeating
 *           it changes nothing
 * Errors    401 UNAUTHENTICATED, 403 FORBIDDEN, 400 INVALID_REQUEST with the pointer;
 *           409 SEATS_FIXED with "seats": seats that were ever ordered cannot be removed, and keep
 *           their price while they are ordered; 409 QUEUE_BUSY: the queue to be left has members,
 *           or members hold or have ordered seats of the show; 503 ORDERS_UNAVAILABLE,
 *           503 ADMISSION_UNAVAILABLE: Redis does not answer whether they do
 * Touches   sql/queries/seats/show_find.sql, show_put.sql, show_seat_ids.sql, availability.sql,
 *           lua/goods/sold_out.lua, seats_load.lua; if the queue changes also
 *           lua/seats/seats_known.lua, stats.lua, seats_forget.lua,
 *           sql/queries/seats/seats_page.sql, lua/seats/seats_publish.lua; the catalogue. Without
 *           Redis the outbox and reconcile publish it later
 * Roles     operator
 */
#include <inttypes.h>

#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/body_reader.h"
#include "fcgi-app/operator/concerts/show_answer.h"
#include "fcgi-app/operator/concerts/show_plan_body.h"
#include "fcgi-app/operator/operator_call.h"
#include "fcgi-app/pool/handler.h"
#include "lib/admission/queues/queue_stats.h"
#include "lib/base/clock.h"
#include "lib/base/identifier.h"
#include "lib/base/log.h"
#include "lib/catalog/catalog.h"
#include "lib/database/goods/availability.h"
#include "lib/database/seats/seat_publication.h"

enum { MAX_SEATS_DEFAULT = 4, HOLD_TTL_DEFAULT = 300 };

/** One request in progress. */
struct put {
    const struct services *services;
    struct body_reader reader;
    struct operator_call call;
    struct show_record show;
    struct show_plan_body plan;
    struct show_record old; /* before; without an id if there was none */
};

static bool read_time(const struct body_reader *reader, json_object *value, int64_t *ms)
{
    return (rfc3339_parse(body_text(value), ms) && *ms >= 0) ||
           body_refuse(reader, "/startsAt",
                       "startsAt must be an RFC 3339 time with a zone, from 1970 on.");
}

static bool read_show(struct put *put, json_object *body)
{
    static const char *const FIELDS[] = {
        "concert",   "startsAt", "queue",     "maxSeatsPerMember", "holdTtlSeconds",
        "seats",     "plan",     "show",      "currency",          "taken",
        "seatCount", "version",  "createdAt", "updatedAt",         NULL};
    const struct body_reader *reader = &put->reader;
    struct show_record *show = &put->show;

    show->concert = body_text(json_object_object_get(body, "concert"));
    show->queue = body_text(json_object_object_get(body, "queue"));
    if (!body_only_known(reader, body, "", FIELDS)) {
        return false;
    }
    if (!identifier_is_slug(show->concert)) {
        return body_refuse(reader, "/concert", "concert must be the id of the show's concert.");
    }
    if (!identifier_is_slug(show->queue)) {
        return body_refuse(reader, "/queue", "queue must be the id of the queue that sells it.");
    }
    return read_time(reader, json_object_object_get(body, "startsAt"), &show->starts_ms) &&
           body_read_whole(reader, json_object_object_get(body, "maxSeatsPerMember"),
                           "/maxSeatsPerMember", 1, SEATS_MAX, MAX_SEATS_DEFAULT,
                           &show->max_seats) &&
           body_read_whole(reader, json_object_object_get(body, "holdTtlSeconds"),
                           "/holdTtlSeconds", HOLD_TTL_SECONDS_MIN, HOLD_TTL_SECONDS_MAX,
                           HOLD_TTL_DEFAULT, &show->hold_ttl_seconds) &&
           show_plan_body_read(reader, body, &put->plan);
}

static bool refuse_busy(const struct put *put, const char *why, int64_t count)
{
    problem_answer(put->reader.request, put->reader.response, PROBLEM_QUEUE_BUSY,
                   "%" PRId64
                   " %s the queue %.*s: the show cannot leave it before they have finished.",
                   count, why, STR_ARG(put->old.queue));
    return false;
}

static bool refuse_unknown(const struct put *put)
{
    problem_answer(put->reader.request, put->reader.response, PROBLEM_ADMISSION_UNAVAILABLE,
                   "Redis does not answer, so members may be in the queue for this show; nothing "
                   "was changed.");
    return false;
}

/* True if the queue that the show leaves is empty, and none of its seats is held. */
static bool is_unused(const struct put *put)
{
    struct arena *arena = put->reader.request->arena;
    struct redis *redis = put->services->redis;
    const struct show_ref ref = {.queue = put->old.queue, .show = put->show.id};
    struct queue_stats stats;
    struct show_known known;

    enum outcome found = seats_known(redis, arena, &ref, &known);
    if (found == OUTCOME_ADMISSION_UNAVAILABLE) {
        return refuse_unknown(put);
    }
    if (found == OUTCOME_OK && known.held > 0) {
        return refuse_busy(put, "seats are held through", known.held);
    }
    const redisReply *reply = redis_call(redis, arena, queue_stats_ask(arena, put->old.queue, 1));
    enum outcome outcome = queue_stats_read(reply, arena, &stats);
    if (outcome == OUTCOME_NOT_FOUND) {
        return true;
    }
    if (outcome != OUTCOME_OK) {
        return refuse_unknown(put);
    }
    int64_t people = stats.waiting + stats.away + stats.ready + stats.claimed;
    return people == 0 || refuse_busy(put, "people are in", people);
}

/* Reads the previous state; false: answered. */
static bool may_change(struct put *put)
{
    const struct request *request = put->reader.request;
    enum show_outcome found =
        show_store_find(put->services->postgres, request->arena, put->show.id, &put->old);

    if (found == SHOW_NONE) {
        return true;
    }
    if (found != SHOW_FOUND) {
        return show_refuse(request, put->reader.response, found, "show", put->show.id);
    }
    return str_equal(put->old.queue, put->show.queue) || is_unused(put);
}

static void answer_fixed(const struct put *put, const struct show_change *change)
{
    struct str first = change->fixed_count > 0 ? change->fixed[0] : STR("");
    struct buffer json;

    problem_answer(put->reader.request, put->reader.response, PROBLEM_SEATS_FIXED,
                   "Seats that were ever ordered cannot be removed, and those ordered now keep "
                   "their price: %.*s%s. Nothing was changed.",
                   STR_ARG(first), change->fixed_count > 1 ? " and others" : "");
    buffer_init(&json, change->fixed_count * (SEAT_MAX + 3) + 3);
    buffer_add_char(&json, '[');
    for (size_t i = 0; i < change->fixed_count; i++) {
        if (i > 0) {
            buffer_add_char(&json, ',');
        }
        buffer_add_json_string(&json, change->fixed[i]);
    }
    buffer_add_char(&json, ']');
    problem_add(put->reader.response, "seats", buffer_text(&json));
    buffer_free(&json);
}

static bool stored(const struct put *put, enum show_outcome outcome,
                   const struct show_change *change)
{
    switch (outcome) {
    case SHOW_CREATED:
    case SHOW_CHANGED:
    case SHOW_SAME:
        return true;
    case SHOW_QUEUE_GONE:
        return body_refuse(&put->reader, "/queue", "There is no queue %.*s.",
                           STR_ARG(put->show.queue));
    case SHOW_CONCERT_GONE:
        return body_refuse(&put->reader, "/concert", "There is no concert %.*s.",
                           STR_ARG(put->show.concert));
    case SHOW_QUEUE_FIXED:
        problem_answer(
            put->reader.request, put->reader.response, PROBLEM_QUEUE_BUSY,
            "Seats of the show were ordered through the queue %.*s, so its queue cannot change.",
            STR_ARG(put->old.queue));
        return false;
    case SHOW_SEATS_FIXED:
        answer_fixed(put, change);
        return false;
    default:
        return show_refuse(put->reader.request, put->reader.response, outcome, "show",
                           put->show.id);
    }
}

/* Publishes the change. If that fails, reconcile and the outbox do it: the catalogue comes first,
 * as reconcile updates both while Redis has an older version of the show. */
static void publish(const struct put *put, const struct show_change *change)
{
    const struct services *services = put->services;
    struct arena *arena = put->reader.request->arena;
    const struct show_ref left = {.queue = change->left_queue, .show = put->show.id};
    bool published = catalog_show_changed(services->redis, arena, put->show.id, put->show.concert);

    if (put->old.id.n > 0 && !str_equal(put->old.concert, put->show.concert)) {
        published &= catalog_concert_changed(services->redis, arena, put->old.concert);
    }
    if (left.queue.n > 0) {
        published &=
            seats_forget(services->redis, arena, &left) &&
            show_states_publish(services->postgres, services->redis, arena, left.show, NULL);
        (void)availability_publish(services->postgres, services->redis, arena, left.queue, false);
    }
    published = published && show_publish(services->postgres, services->redis, arena,
                                          put->show.id) != OUTCOME_ADMISSION_UNAVAILABLE;
    published &=
        availability_publish(services->postgres, services->redis, arena, put->show.queue, false);
    if (!published) {
        log_event(LOG_LEVEL_WARNING, "show.publish_later",
                  LOG_FIELDS(LOG_STR("show", put->show.id), LOG_STR("queue", put->show.queue)));
    }
}

/* Uses a separate connection: a complete plan may take longer than the usual statement time-out. */
static enum show_outcome store(const struct put *put, struct show_change *change)
{
    const struct settings *settings = put->services->settings;
    struct postgres *patient =
        postgres_new(settings->postgres_conninfo, SHOW_PUT_TIMEOUT_MS, settings->lock_timeout_ms);
    enum show_outcome outcome =
        show_store_put(patient, put->reader.request->arena, &put->show, put->plan.seats,
                       put->plan.count, &put->call.author, change);

    postgres_free(patient);
    return outcome;
}

void put_show(const struct services *services, const struct request *request,
              struct response *response)
{
    struct put put = {.services = services, .reader = {.request = request, .response = response}};
    struct show_change change;
    struct show_record now;

    if (!operator_begin(services, request, response, false, &put.call)) {
        return;
    }
    put.show.id = put.call.id;
    json_object *body = operator_body(request, response);
    if (body == NULL || !read_show(&put, body) || !may_change(&put)) {
        return;
    }
    put.show.currency = put.plan.currency;
    enum show_outcome outcome = store(&put, &change);
    if (!stored(&put, outcome, &change)) {
        return;
    }
    if (outcome != SHOW_SAME) {
        operator_log_change("show.changed", &put.call,
                            outcome == SHOW_CREATED ? "create" : "change");
    }
    publish(&put, &change);
    enum show_outcome found =
        show_store_find(services->postgres, request->arena, put.show.id, &now);
    if (found != SHOW_FOUND) {
        (void)show_refuse(request, response, found, "show", put.show.id);
        return;
    }
    show_answer(response, outcome == SHOW_CREATED ? 201 : 200, &now, NULL, 0);
}
