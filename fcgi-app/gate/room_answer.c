#include "fcgi-app/gate/room_answer.h"

#include <string.h>

#include "fcgi-app/gate/cf_waiting_room.h"
#include "fcgi-app/gate/page/waiting_page.h"
#include "fcgi-app/http/problem.h"
#include "fcgi-app/queue/position_json.h"
#include "lib/base/clock.h"
#include "lib/base/random.h"

static const struct {
    const char *name;
    int64_t retry_s; /* when to poll again, if the position does not tell */
} FACES[] = {
    [FACE_JOIN] = {"JOIN", 2},          [FACE_PROOF] = {"PROOF", 5},
    [FACE_WAITING] = {"WAITING", 5},    [FACE_READY] = {"READY", 1},
    [FACE_PRE_OPEN] = {"PRE_OPEN", 10}, [FACE_PAUSED] = {"PAUSED", 10},
    [FACE_HOLD] = {"HOLD", 10},         [FACE_SOLD_OUT] = {"SOLD_OUT", 30},
    [FACE_CLOSED] = {"CLOSED", 60},     [FACE_TAKEN_OVER] = {"TAKEN_OVER", 60},
    [FACE_COOKIES] = {"COOKIES", 60},   [FACE_LOGIN] = {"LOGIN", 60},
    [FACE_FULL] = {"FULL", 15},         [FACE_UNAVAILABLE] = {"UNAVAILABLE", 3},
    [FACE_UNSAFE] = {"UNSAFE", 5},      [FACE_NOT_CONFIGURED] = {"NOT_CONFIGURED", 60},
};

enum face room_face_of(const struct line_position *position, bool hold)
{
    static const struct {
        struct str state;
        enum face face;
    } BY_STATE[] = {
        {{"CLOSED", 6}, FACE_CLOSED},
        {{"SOLD_OUT", 8}, FACE_SOLD_OUT},
        {{"PRE_OPEN", 8}, FACE_PRE_OPEN},
        {{"PAUSED", 6}, FACE_PAUSED},
    };

    if (hold) {
        return FACE_HOLD;
    }
    if (position->status == LINE_READY) {
        return FACE_READY;
    }
    for (size_t i = 0; i < sizeof(BY_STATE) / sizeof(BY_STATE[0]); i++) {
        if (str_equal(BY_STATE[i].state, position->queue_state)) {
            return BY_STATE[i].face;
        }
    }
    return FACE_WAITING;
}

/* The state JSON of the page */

static void add_text(struct buffer *out, const char *name, struct str text)
{
    buffer_format(out, ",\"%s\":", name);
    if (text.n > 0) {
        buffer_add_json_string(out, text);
    } else {
        buffer_add(out, STR("null"));
    }
}

static void add_number(struct buffer *out, const char *name, int64_t number)
{
    if (number >= 0) {
        buffer_format(out, ",\"%s\":%lld", name, (long long)number);
    } else {
        buffer_format(out, ",\"%s\":null", name);
    }
}

static void add_time(struct buffer *out, const char *name, int64_t ms)
{
    buffer_format(out, ",\"%s\":", name);
    buffer_add_json_time(out, ms > 0 ? ms : -1);
}

static void add_address(struct buffer *out, const char *name, struct str queue, const char *what)
{
    buffer_format(out, ",\"%s\":\"/_sluice/queues/%.*s/%s\"", name, STR_ARG(queue), what);
}

static void add_position(struct buffer *out, const struct line_position *position, int64_t retry_ms)
{
    static const char *const STATUS[] = {
        [LINE_NOT_ENTERED] = "NOT_ENTERED", [LINE_WAITING] = "WAITING", [LINE_READY] = "READY"};
    bool is_there = position != NULL && position->status != LINE_NOT_ENTERED;

    add_text(out, "status", str_of(STATUS[position == NULL ? LINE_NOT_ENTERED : position->status]));
    add_number(out, "rank", position == NULL ? -1 : position->rank);
    add_number(out, "seq", is_there ? position->seq : -1);
    add_number(out, "estimatedWaitSeconds", position == NULL ? -1 : position_estimate_s(position));
    add_number(out, "retryAfterMs", retry_ms);
    if (position != NULL && position_is_exact_only(position)) {
        buffer_add(out, STR(",\"exactOnly\":true"));
    }
}

/* The public state of the queue, from the position if there is one, as it is newer. */
static void add_queue(struct buffer *out, const struct services *services,
                      const struct visit *visit, const struct line_position *position)
{
    const struct gate_view *view = visit->known == NULL ? NULL : &visit->known->view;

    add_text(out, "queueState",
             position != NULL ? position->queue_state
             : view != NULL   ? view->queue_state
                              : str_sized(NULL, 0));
    add_number(out, "waiting",
               position != NULL ? position->waiting
               : view != NULL   ? view->waiting
                                : -1);
    add_number(out, "epoch", position != NULL ? position->epoch : view != NULL ? view->epoch : -1);
    add_number(out, "incarnation",
               position != NULL ? position->incarnation
               : view != NULL   ? view->incarnation
                                : -1);
    add_time(out, "serverTime",
             position != NULL ? position->now_ms
             : view != NULL   ? gate_cache_redis_ms(visit->known, visit->now_ms)
                              : clock_wall_ms());
    add_time(out, "opensAt", view == NULL ? -1 : view->opens_at_ms);
    add_time(out, "closesAt", view == NULL ? -1 : view->closes_at_ms);
    add_text(out, "message", view == NULL ? str_sized(NULL, 0) : view->message);
    add_text(out, "mode", view == NULL ? str_sized(NULL, 0) : view->mode);
    add_text(out, "identity", str_of(view != NULL && !view->for_visitors ? "member" : "visitor"));
    add_number(out, "keepSeconds", services->settings->queue_ticket_ttl_seconds);
    add_number(out, "pickupSeconds", view == NULL ? -1 : view->pickup_seconds);
    add_number(out, "entryTtlSeconds", view == NULL ? -1 : view->entry_ttl_seconds);
}

static struct str state_json(const struct services *services, const struct request *request,
                             const struct visit *visit, enum face face,
                             const struct line_position *position, int64_t retry_ms,
                             struct str language, struct buffer *out)
{
    struct str queue = visit == NULL ? str_sized(NULL, 0) : visit->queue;
    static const struct visit NOBODY;

    (void)request;
    buffer_format(out, "{\"face\":\"%s\"", FACES[face].name);
    add_text(out, "queue", queue);
    add_position(out, position, retry_ms);
    add_queue(out, services, visit == NULL ? &NOBODY : visit, position);
    if (queue.n > 0) {
        buffer_format(out, ",\"board\":\"/_sluice/board/%.*s.json\"", STR_ARG(queue));
        add_address(out, "entries", queue, "entries");
        add_address(out, "challenge", queue, "challenge");
        add_address(out, "position", queue, "position");
        add_address(out, "result", queue, "result");
    }
    add_text(out, "lang", language);
    buffer_add_char(out, '}');
    return buffer_text(out);
}

/* The page */

static struct str number_text(const struct request *request, int64_t number)
{
    return number < 0 ? STR("\xe2\x80\x93")
                      : str_of(arena_format(request->arena, "%lld", (long long)number));
}

static void answer_page(const struct services *services, const struct request *request,
                        struct response *response, const struct visit *visit, enum face face,
                        const struct line_position *position, int64_t retry_ms)
{
    struct buffer state;
    char nonce[RANDOM_ID_TEXT + 1];
    struct str chosen = request_cookie(request, STR("sluice_language"));
    int64_t rank = position == NULL ? -1 : position->rank;

    waiting_page_refresh(services->waiting_page, clock_monotonic_ms());
    buffer_init(&state, 16 * 1024);
    random_id(nonce);
    struct str language =
        waiting_page_language(services->waiting_page, chosen, request->accept_language);
    const struct waiting_page_values values = {
        .language = language,
        .face = str_of(FACES[face].name),
        .queue = visit == NULL ? str_sized(NULL, 0) : visit->queue,
        .message =
            visit == NULL || visit->known == NULL ? str_sized(NULL, 0) : visit->known->view.message,
        .place = number_text(request, rank < 0 ? -1 : rank + 1),
        .ahead = number_text(request, rank),
        .nonce = str_of(nonce),
        .state = state_json(services, request, visit, face, position, retry_ms, language, &state),
        .refresh_s = face == FACE_UNSAFE ? 86400 : (retry_ms + 999) / 1000,
    };
    response->content_type = "text/html; charset=utf-8";
    waiting_page_write(services->waiting_page, &values, &response->body);
    buffer_free(&state);
    response_header(
        response, "Content-Security-Policy",
        str_of(arena_format(request->arena,
                            "default-src 'none'; style-src 'nonce-%s'; script-src 'nonce-%s'; "
                            "img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
                            "form-action 'self'; frame-ancestors %s",
                            nonce, nonce,
                            str_equal(str_of(services->settings->cookie_same_site), STR("none"))
                                ? "*"
                                : "'self'")));
    response_header(response, "Referrer-Policy", STR("same-origin"));
}

/* The JSON */

/* Whether scripts of `origin` may read our refusals (CORS). */
static bool origin_is_allowed(const struct services *services, struct str origin)
{
    struct str rest = str_of(services->settings->cors_origins);

    while (rest.n > 0 && origin.n > 0) {
        struct str one;
        (void)str_split(rest, ' ', &one, &rest);
        if (str_equal(one, STR("*")) || str_equal(one, origin)) {
            return true;
        }
    }
    return false;
}

static void add_cors(const struct services *services, struct response *response,
                     const struct visit *visit)
{
    if (visit != NULL && origin_is_allowed(services, visit->origin)) {
        response_header(response, "Access-Control-Allow-Origin", visit->origin);
        response_header(response, "Access-Control-Allow-Credentials", STR("true"));
        response_header(response, "Access-Control-Expose-Headers",
                        STR("Retry-After, X-Request-Id"));
    }
}

static void add_cf(struct response *response, const struct visit *visit, enum face face,
                   const struct line_position *position, int64_t retry_ms)
{
    const struct gate_view *view = &visit->known->view;
    struct buffer json;
    const struct cf_waiting_room room = {
        .in_line = position != NULL && position->status != LINE_NOT_ENTERED,
        .queue_full = face == FACE_FULL,
        .queue_all = face == FACE_HOLD,
        .wait_seconds = position == NULL ? -1 : position_estimate_s(position),
        .retry_seconds = (retry_ms + 999) / 1000,
        .now_ms = gate_cache_redis_ms(visit->known, visit->now_ms),
        .opens_at_ms = view->opens_at_ms,
        .closes_at_ms = view->closes_at_ms,
        .mode = str_equal(view->mode, STR("lottery")) ? CF_RANDOM : CF_FIFO,
        .queue_state = position == NULL ? view->queue_state : position->queue_state,
    };

    buffer_init(&json, 4096);
    cf_waiting_room_add(&json, &room);
    problem_add(response, "cfWaitingRoom", buffer_text(&json));
    buffer_free(&json);
}

/* Whether it is certain that the visitor has no place: unknown visitor, or refused entry. */
static bool has_no_place(const struct visit *visit, enum face face)
{
    return visit->id.n == 0 || face == FACE_PROOF || face == FACE_FULL || face == FACE_CLOSED ||
           face == FACE_SOLD_OUT;
}

/* Adds nothing if there may be a place that was not read: a poll will tell. */
static void add_place(struct response *response, const struct visit *visit, enum face face,
                      const struct line_position *position, struct poll_pause pause)
{
    struct line_position shown = {.status = LINE_NOT_ENTERED, .rank = -1};
    struct buffer json;

    if (position != NULL) {
        shown = *position;
        /* Only the position route reveals the token; refusals may end up in logs. */
        shown.entry_token = str_sized(NULL, 0);
    } else if (visit != NULL && visit->known != NULL && has_no_place(visit, face)) {
        const struct gate_view *view = &visit->known->view;
        shown.queue_state = view->queue_state;
        shown.waiting = view->waiting;
        shown.epoch = view->epoch;
        shown.incarnation = view->incarnation;
        shown.now_ms = gate_cache_redis_ms(visit->known, visit->now_ms);
    } else {
        return;
    }
    buffer_init(&json, 4096);
    position_json_add(&json, visit->queue, &shown, pause, str_sized(NULL, 0));
    problem_add(response, "position", buffer_text(&json));
    buffer_free(&json);
}

static void answer_json(const struct services *services, const struct request *request,
                        struct response *response, const struct visit *visit, enum face face,
                        const struct line_position *position, struct poll_pause pause)
{
    static const struct {
        enum problem problem;
        const char *detail;
    } SAID[] = {
        [FACE_JOIN] = {PROBLEM_WAITING,
                       "You need a place in line here. Open the page in a browser; a program sends "
                       "a GET with the cookie that it was given."},
        [FACE_PROOF] = {PROBLEM_WAITING,
                        "A place here requires a proof of work. Solve the challenge at the address "
                        "in challenge, and send the solution as captcha to entries beside it."},
        [FACE_WAITING] = {PROBLEM_WAITING, "You are waiting in line. Your place is kept."},
        [FACE_READY] = {PROBLEM_WAITING, "It is your turn: send the request again."},
        [FACE_PRE_OPEN] = {PROBLEM_WAITING, "It is not open yet."},
        [FACE_PAUSED] = {PROBLEM_WAITING, "No one is admitted at the moment. Your place is kept."},
        [FACE_HOLD] = {PROBLEM_WAITING, "Everyone has to wait at the moment. Your place is kept."},
        [FACE_SOLD_OUT] = {PROBLEM_WAITING, "Everything is sold out."},
        [FACE_CLOSED] = {PROBLEM_WAITING, "The queue is closed."},
        [FACE_TAKEN_OVER] = {PROBLEM_WAITING, "Your place was taken over on another screen."},
        [FACE_COOKIES] = {PROBLEM_WAITING, "Cookies are required to wait here."},
        [FACE_LOGIN] = {PROBLEM_WAITING, "Log in on the site first."},
        [FACE_FULL] = {PROBLEM_WAITING, "The line is full. Try again later."},
        [FACE_UNAVAILABLE] = {PROBLEM_ADMISSION_UNAVAILABLE,
                              "The queue cannot be reached at the moment. No place is lost."},
        [FACE_UNSAFE] = {PROBLEM_WAITING,
                         "Your form was not processed. Send it again once you are admitted."},
        [FACE_NOT_CONFIGURED] = {PROBLEM_ADMISSION_UNAVAILABLE,
                                 "This part of the site names a queue that does not exist."},
    };

    static const char NO_PLACE_FOR_SCRIPTS[] =
        "You need a place in line here. Load the page itself: its scripts and parts take no place.";
    bool is_script = visit != NULL && visit->kind == CLIENT_FETCH && face == FACE_JOIN;

    problem_answer(request, response, SAID[face].problem, "%s",
                   is_script ? NO_PLACE_FOR_SCRIPTS : SAID[face].detail);
    buffer_clear(&response->headers);
    add_place(response, visit, face, position, pause);
    if (face == FACE_PROOF) {
        problem_add(response, "challenge",
                    str_of(arena_format(request->arena, "\"/_sluice/queues/%.*s/challenge\"",
                                        STR_ARG(visit->queue))));
    }
    if (visit != NULL && visit->known != NULL) {
        add_cf(response, visit, face, position, pause.retry_ms);
    }
    add_cors(services, response, visit);
}

void room_answer(const struct services *services, const struct request *request,
                 struct response *response, const struct visit *visit, enum face face,
                 const struct line_position *position)
{
    struct poll_pause pause = position != NULL && face == FACE_WAITING
                                  ? position_pause(position)
                                  : poll_tiers_fixed(FACES[face].retry_s);
    bool page = visit != NULL && (visit->kind == CLIENT_PAGE || visit->kind == CLIENT_FORM);
    int64_t status = 503;

    if (face == FACE_UNAVAILABLE || face == FACE_FULL) {
        pause.retry_ms = problem_spread_ms(pause.retry_ms);
    }
    response_clear(response);
    if (page) {
        (void)str_to_int64(str_of(services->settings->waiting_status), 200, 503, &status);
        answer_page(services, request, response, visit, face, position, pause.retry_ms);
        problem_report(response, face == FACE_UNAVAILABLE || face == FACE_NOT_CONFIGURED
                                     ? PROBLEM_ADMISSION_UNAVAILABLE
                                     : PROBLEM_WAITING);
    } else {
        answer_json(services, request, response, visit, face, position, pause);
    }
    response->status = (int)status;
    response_header(
        response, "Retry-After",
        str_of(arena_format(request->arena, "%lld", (long long)((pause.retry_ms + 999) / 1000))));
    response_header(response, "Vary",
                    STR("Accept, Accept-Language, Cookie, Origin, Sec-Fetch-Mode"));
}
