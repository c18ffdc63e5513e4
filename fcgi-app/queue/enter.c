/*
 * POST /v1/queues/{queue}/entries — take a place in line, or learn of the one already held.
 *
 * Request  Authorization: Bearer JWT, or a visitor cookie, or nothing (queues for visitors);
 *          X-Queue-Ticket or its cookie keeps this screen's session
 *          {"code": "…"}, if any: an invite lets in at once or next, a priority code puts into that lane
 * Reply    201 position at first, 200 when already there; with queueTicket, also as a cookie
 * Errors   INVALID_REQUEST 400, CODE_INVALID 403 (nothing is lost), UNAUTHENTICATED, TICKET_INVALID 401, NOT_FOUND 404, ALREADY_ACTIVE 409, QUEUE_CLOSED,
 *          SOLD_OUT 410, QUEUE_FULL, ADMISSION_UNAVAILABLE 503
 * Touches  lua/enter.lua
 */
#include "fcgi-app/http/problem.h"
#include "fcgi-app/pool/line_handler.h"
#include "fcgi-app/queue/position_json.h"
#include "fcgi-app/queue/refusal.h"
#include "fcgi-app/queue/seen_queues.h"
#include "fcgi-app/queue/ticket_cookie.h"
#include "fcgi-app/queue/ticket_issue.h"
#include "fcgi-app/queue/who_stands.h"
#include "lib/admission/codes.h"
#include "lib/base/log.h"
#include "lib/metrics/metrics.h"

/* The body is optional, and so is the code in it. */
static bool read_code(const struct request *request, struct response *response, struct str *code)
{
    const char *why = NULL;
    json_object *value = NULL;
    json_object *body = request_json(request, &why);

    if (body == NULL) {
        problem_answer_at(request, response, "", "%s", why);
        return false;
    }
    if (!json_object_object_get_ex(body, "code", &value) || value == NULL) {
        return true;
    }
    *code = str_sized(json_object_get_string(value), (size_t)json_object_get_string_len(value));
    if (!json_object_is_type(value, json_type_string) || code->n > CODE_TEXT_MAX) {
        problem_answer_at(request, response, "/code", "code must be text of at most %d letters.",
                          CODE_TEXT_MAX);
        return false;
    }
    return true;
}

struct redis_command *enter_begin(const struct services *services, const struct request *request,
                                  struct response *response, void **memory)
{
    struct str code = {0};

    if (!read_code(request, response, &code)) {
        return NULL;
    }
    struct line_caller *caller = who_enters(services, request, response);
    *memory = caller;
    if (caller == NULL) {
        return NULL;
    }
    caller->code = code;
    return line_enter(request->arena, caller, LINE_TAKE_OVER);
}

void enter_finish(const struct services *services, const struct request *request,
                  const redisReply *reply, void *memory, struct response *response)
{
    const struct line_caller *caller = memory;
    struct line_position position;
    enum outcome outcome = line_read_position(reply, &position);

    if (outcome != OUTCOME_ENTERED && outcome != OUTCOME_ALREADY) {
        refusal_answer(request, response, caller->queue, caller->has_ticket, outcome, reply);
        metrics_add(METRIC_ENTRIES_REFUSED, response->ask == NULL);
        return;
    }
    metrics_add(outcome == OUTCOME_ENTERED ? METRIC_ENTRIES_NEW : METRIC_ENTRIES_AGAIN, 1);
    struct str ticket = ticket_issue(services, request, caller, &position);
    if (ticket.n == 0) {
        log_event(LOG_LEVEL_ERROR, "ticket.not_signed",
                  LOG_FIELDS(LOG_STR("queue", caller->queue), LOG_INT("seq", position.seq)));
        problem_answer(request, response, PROBLEM_INTERNAL_ERROR, "The ticket was not signed.");
        return;
    }
    log_set_request(request->request_id, request->traceparent);
    log_event(LOG_LEVEL_DEBUG, "queue.entered",
              LOG_FIELDS(LOG_STR("queue", caller->queue), LOG_INT("number", position.seq),
                         LOG_INT("again", outcome == OUTCOME_ALREADY)));
    log_set_request(str_sized(NULL, 0), str_sized(NULL, 0));
    seen_queues_add(caller->queue);
    position_json_answer(response, outcome == OUTCOME_ENTERED ? 201 : 200, caller->queue, &position,
                         ticket);
    ticket_cookie_set(services, request, response, caller->queue, ticket);
}
