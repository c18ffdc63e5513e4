/*
 * GET /_sluice/room — the waiting room, at the address that was requested: only nginx calls it, for
 * every request that /_sluice/check refused.
 *
 * Request   see visit.h
 * Reply     503 (setting waiting_status for pages) with the waiting page or problem+json WAITING,
 *           see room_answer.h
 * Errors    for programs: 503 WAITING; 503 ADMISSION_UNAVAILABLE without Redis, or if there is no
 *           such queue
 * Touches   lua/line/enter.lua for a page or an app that has proved to keep cookies, or is known as
 *           a member; lua/line/position.lua for other programs of a known visitor;
 *           lua/gate/gate_view.lua and sluice:tenures as /_sluice/check does
 *
 * A first page only gets the visitor cookie. The place is taken when the cookie comes back: by the
 * page's script, or by its reload without scripts. So clients that keep no cookies do not fill the
 * line, and a prefetched page, a script or a subresource never takes a place. A script, or a
 * program with an unsafe method, is told the place that its visitor has.
 */
#include "fcgi-app/gate/room_answer.h"
#include "fcgi-app/gate/visit.h"
#include "fcgi-app/http/caller.h"
#include "fcgi-app/pool/line_handler.h"
#include "fcgi-app/queue/ticket_cookie.h"
#include "fcgi-app/queue/ticket_issue.h"

enum stage { LOOKING, RECALLING, ENTERING, ASKING };

static bool is_on_hold(const struct visit *visit)
{
    return str_equal(visit->known->view.activation, STR("hold"));
}

static bool takes_a_place(const struct visit *visit)
{
    return visit->id.n > 0 && visit->is_get &&
           (visit->kind == CLIENT_PAGE || visit->kind == CLIENT_APP);
}

/* A program, whose answer is to tell the place that its visitor may have. */
static bool asks_for_a_place(const struct visit *visit)
{
    return visit->id.n > 0 && (visit->kind == CLIENT_FETCH || visit->kind == CLIENT_APP);
}

/* Answers a visitor without a place; sets the cookie if the visitor may take one later. */
static void answer_newcomer(const struct services *services, const struct request *request,
                            struct response *response, struct visit *visit, enum face face)
{
    bool may_join = visit->kind == CLIENT_PAGE || visit->kind == CLIENT_APP;
    bool for_visitors =
        visit->known == NULL ? face == FACE_UNAVAILABLE : visit->known->view.for_visitors;

    room_answer(services, request, response, visit, face, NULL);
    if (may_join && for_visitors && visit->id.n == 0) {
        visit_make_visitor(services, request, response, visit, true);
    }
    visit_keep_visitor(services, request, response, visit);
}

/* The face for a visitor who takes no place now. */
static enum face face_without_place(const struct visit *visit)
{
    if (visit->known == NULL) {
        return FACE_NOT_CONFIGURED;
    }
    if (!visit->is_safe) {
        return FACE_UNSAFE;
    }
    if (is_on_hold(visit)) {
        return FACE_HOLD;
    }
    return visit->id.n == 0 && !visit->known->view.for_visitors ? FACE_LOGIN : FACE_JOIN;
}

static struct redis_command *proceed(const struct services *services, const struct request *request,
                                     struct response *response, struct visit *visit)
{
    if (visit->known != NULL && takes_a_place(visit)) {
        visit->stage = ENTERING;
        return line_enter(request->arena, visit_line_caller(visit, request), LINE_STAY);
    }
    if (visit->known != NULL && asks_for_a_place(visit)) {
        visit->stage = ASKING;
        return line_position(request->arena, visit_line_caller(visit, request));
    }
    answer_newcomer(services, request, response, visit, face_without_place(visit));
    return NULL;
}

struct redis_command *room_begin(const struct services *services, const struct request *request,
                                 struct response *response, void **memory)
{
    struct visit *visit = visit_read(request);

    *memory = visit;
    if (visit == NULL) {
        room_answer(services, request, response, NULL, FACE_NOT_CONFIGURED, NULL);
        return NULL;
    }
    if (gate_cache_is_due(visit->queue, visit->now_ms)) {
        visit->stage = LOOKING;
        return gate_look(request->arena, visit->queue);
    }
    visit->known = gate_cache_find(visit->queue);
    visit_identify(services, request, visit);
    return proceed(services, request, response, visit);
}

/* Answers with the place, and sets the ticket's cookie. */
static void answer_place(const struct services *services, const struct request *request,
                         struct response *response, const struct visit *visit,
                         const struct line_position *position)
{
    struct str ticket =
        ticket_issue(services, request, visit_line_caller(visit, request), position);

    room_answer(services, request, response, visit, room_face_of(position, is_on_hold(visit)),
                position);
    if (ticket.n > 0) {
        ticket_cookie_set(services, request, response, visit->queue, ticket, position->status);
    }
    visit_keep_visitor(services, request, response, visit);
}

static void entered(const struct services *services, const struct request *request,
                    struct response *response, const struct visit *visit, const redisReply *reply)
{
    struct line_position position;
    enum outcome outcome = line_read_position(reply, &position);
    enum face face = FACE_UNAVAILABLE;

    switch (outcome) {
    case OUTCOME_ENTERED:
    case OUTCOME_ALREADY:
        answer_place(services, request, response, visit, &position);
        return;
    case OUTCOME_SESSION_REVOKED:
        face = FACE_TAKEN_OVER;
        break;
    case OUTCOME_CAPTCHA_FAILED:
        face = FACE_PROOF;
        break;
    case OUTCOME_QUEUE_CLOSED:
        face = FACE_CLOSED;
        break;
    case OUTCOME_SOLD_OUT:
        face = FACE_SOLD_OUT;
        break;
    case OUTCOME_QUEUE_FULL:
        face = FACE_FULL;
        break;
    case OUTCOME_UNAUTHENTICATED:
        face = FACE_LOGIN;
        break;
    case OUTCOME_ALREADY_ACTIVE:
        face = FACE_READY;
        break;
    default:
        break;
    }
    room_answer(services, request, response, visit, face, NULL);
    visit_keep_visitor(services, request, response, visit);
}

/* Answers with the place, or that there is none. Returns the command whose reply is needed first,
 * or NULL. */
static struct redis_command *asked(const struct services *services, const struct request *request,
                                   struct response *response, struct visit *visit,
                                   const redisReply *reply)
{
    struct line_position position;
    enum outcome outcome = line_read_position(reply, &position);
    enum face face = face_without_place(visit);

    if (outcome == OUTCOME_QUEUE_RESET && visit->has_ticket) {
        /* The line of the ticket is gone: there may be a place in the new one. */
        visit->has_ticket = false;
        return line_position(request->arena, visit_line_caller(visit, request));
    }
    switch (outcome) {
    case OUTCOME_OK:
        if (face == FACE_JOIN && position.status != LINE_NOT_ENTERED) {
            face = room_face_of(&position, false);
        }
        break;
    case OUTCOME_SESSION_REVOKED:
        face = FACE_TAKEN_OVER;
        break;
    case OUTCOME_UNAUTHENTICATED:
        face = FACE_LOGIN;
        break;
    default:
        face = FACE_UNAVAILABLE;
        break;
    }
    room_answer(services, request, response, visit, face, outcome == OUTCOME_OK ? &position : NULL);
    visit_keep_visitor(services, request, response, visit);
    return NULL;
}

/* Looks up the queue. Returns the command whose reply is needed next, or NULL. */
static struct redis_command *looked(const struct services *services, const struct request *request,
                                    struct response *response, struct visit *visit,
                                    const redisReply *reply)
{
    enum outcome outcome = outcome_of(reply);

    visit->known = gate_cache_put(visit->queue, reply, visit->now_ms);
    if (visit->known == NULL && line_settings_missing(reply)) {
        visit->stage = RECALLING;
        return line_memory_ask(request->arena);
    }
    visit_identify(services, request, visit);
    if (outcome != OUTCOME_OK && outcome != OUTCOME_NOT_FOUND) {
        answer_newcomer(services, request, response, visit, FACE_UNAVAILABLE);
        return NULL;
    }
    return proceed(services, request, response, visit);
}

/* The settings are missing: the queue was never created, or Redis has lost it. */
static struct redis_command *recalled(const struct services *services,
                                      const struct request *request, struct response *response,
                                      struct visit *visit, const redisReply *reply)
{
    visit->known = gate_cache_find(visit->queue);
    visit_identify(services, request, visit);
    if (visit->known == NULL && !line_memory_is_there(reply)) {
        answer_newcomer(services, request, response, visit, FACE_UNAVAILABLE);
        return NULL;
    }
    return proceed(services, request, response, visit);
}

void room_finish(const struct services *services, const struct request *request,
                 const redisReply *reply, void *memory, struct response *response)
{
    struct visit *visit = memory;

    switch ((enum stage)visit->stage) {
    case LOOKING:
        response->follow_up = looked(services, request, response, visit, reply);
        break;
    case RECALLING:
        response->follow_up = recalled(services, request, response, visit, reply);
        break;
    case ENTERING:
    case ASKING:
        /* Another queue may have evicted the entry meanwhile. */
        visit->known = gate_cache_find(visit->queue);
        if (visit->known == NULL) {
            answer_newcomer(services, request, response, visit, FACE_UNAVAILABLE);
        } else if (visit->stage == ENTERING) {
            entered(services, request, response, visit, reply);
        } else {
            response->follow_up = asked(services, request, response, visit, reply);
        }
        break;
    }
}
