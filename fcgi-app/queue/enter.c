/*
 * POST /v1/queues/{queue}/entries — take a place in line, or learn of the one already held.
 *
 * Request  Authorization: Bearer JWT, or a visitor cookie, or nothing (queues for visitors);
 *          X-Queue-Ticket or its cookie keeps this screen's session
 * Reply    201 position at first, 200 when already there; with queueTicket, also as a cookie
 * Errors   UNAUTHENTICATED, TICKET_INVALID 401, NOT_FOUND 404, ALREADY_ACTIVE 409, QUEUE_CLOSED,
 *          SOLD_OUT 410, QUEUE_FULL, ADMISSION_UNAVAILABLE 503
 * Touches  lua/enter.lua
 */
#include "fcgi-app/http/problem.h"
#include "fcgi-app/pool/line_handler.h"
#include "fcgi-app/queue/position_json.h"
#include "fcgi-app/queue/refusal.h"
#include "fcgi-app/queue/seen_queues.h"
#include "fcgi-app/queue/ticket_cookie.h"
#include "fcgi-app/queue/who_stands.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/identity/queue_ticket.h"

struct redis_command *enter_begin(const struct services *services, const struct request *request,
                                  struct response *response, void **memory)
{
    struct line_caller *caller = who_enters(services, request, response);

    *memory = caller;
    return caller == NULL ? NULL : line_enter(request->arena, caller);
}

/* Signs the ticket for the place that the script gave. */
static struct str make_ticket(const struct services *services, const struct request *request,
                              const struct line_caller *caller,
                              const struct line_position *position)
{
    int64_t now_s = clock_wall_ms() / 1000;
    const struct queue_ticket ticket = {
        .subject = caller->member,
        .queue = caller->queue,
        .lane = STR(QUEUE_TICKET_LANE_DEFAULT),
        .epoch = position->epoch,
        .seq = position->seq,
        .generation = position->generation,
        .incarnation = position->incarnation,
        .issued_at_s = now_s,
        .expires_at_s = now_s + services->settings->queue_ticket_ttl_seconds,
    };
    char *text = arena_alloc(request->arena, QUEUE_TICKET_TEXT + 1);

    return str_sized(text, queue_ticket_sign(services->ticket_keys, &ticket, text));
}

void enter_finish(const struct services *services, const struct request *request,
                  const redisReply *reply, void *memory, struct response *response)
{
    const struct line_caller *caller = memory;
    struct line_position position;
    enum outcome outcome = line_read_position(reply, &position);

    if (outcome != OUTCOME_ENTERED && outcome != OUTCOME_ALREADY) {
        refusal_answer(request, response, caller->queue, caller->has_ticket, outcome, reply);
        return;
    }
    struct str ticket = make_ticket(services, request, caller, &position);
    if (ticket.n == 0) {
        log_event(LOG_LEVEL_ERROR, "ticket.not_signed",
                  LOG_FIELDS(LOG_STR("queue", caller->queue), LOG_INT("seq", position.seq)));
        problem_answer(request, response, PROBLEM_INTERNAL_ERROR, "The ticket was not signed.");
        return;
    }
    seen_queues_add(caller->queue);
    position_json_answer(response, outcome == OUTCOME_ENTERED ? 201 : 200, caller->queue, &position,
                         ticket);
    ticket_cookie_set(services, request, response, caller->queue, ticket);
}
