/*
 * POST /v1/queues/{queue}/entries — take a place in line, or return the one already held.
 *
 * Request   Authorization: Bearer JWT, or a visitor cookie, or nothing (queues for visitors);
 *           X-Queue-Ticket or its cookie keeps this screen's session {"code": "…"}, optional: an
 *           invite admits immediately or next, a priority code puts into that lane; {"captcha":
 *           "…"}: the proof of work that a new place costs if entryCaptcha is altcha
 * Reply     201 position at first, 200 if already there; with queueTicket, also as a cookie
 * Errors    400 INVALID_REQUEST, 403 CODE_INVALID, 403 CAPTCHA_FAILED (nothing is lost),
 *           401 UNAUTHENTICATED, 401 TICKET_INVALID, 404 NOT_FOUND, 409 ALREADY_ACTIVE,
 *           410 QUEUE_CLOSED, 410 SOLD_OUT, 503 QUEUE_FULL, 503 ADMISSION_UNAVAILABLE
 * Touches   lua/line/enter_together.lua, batched with others; lua/line/enter.lua with a code and if
 *           that does not decide
 */
#include "fcgi-app/http/problem.h"
#include "fcgi-app/pool/line_handler.h"
#include "fcgi-app/queue/entry_proof.h"
#include "fcgi-app/queue/identify_caller.h"
#include "fcgi-app/queue/position_json.h"
#include "fcgi-app/queue/refusal.h"
#include "fcgi-app/queue/seen_queues.h"
#include "fcgi-app/queue/ticket_cookie.h"
#include "fcgi-app/queue/ticket_issue.h"
#include "lib/admission/line/codes.h"
#include "lib/admission/line/line_query.h"
#include "lib/base/log.h"
#include "lib/captcha/altcha_payload.h"
#include "lib/metrics/metrics.h"

static const char WHY_NO_PROOF[] =
    "A place here requires a proof of work. Send the solution of a challenge as captcha.";
static const char WHY_PROOF_SPENT[] = "This proof of work was used before. Fetch a new challenge.";

/* The body and all its members are optional. */
struct entry_body {
    struct str code;
    struct str captcha;
};

struct entering {
    struct line_query *query;
    const char *why; /* a sentence, if there is no valid proof of work */
};

/* Leaves `text` as it is if the body has no `name`. Returns false, and answers, if it is no text or
 * too long. */
static bool read_text(const struct request *request, struct response *response, json_object *body,
                      const char *name, size_t maximum, struct str *text)
{
    json_object *value = NULL;

    if (!json_object_object_get_ex(body, name, &value) || value == NULL) {
        return true;
    }
    *text = str_sized(json_object_get_string(value), (size_t)json_object_get_string_len(value));
    if (!json_object_is_type(value, json_type_string) || text->n > maximum) {
        problem_answer_at(request, response, arena_format(request->arena, "/%s", name),
                          "%s must be a string of at most %zu bytes.", name, maximum);
        return false;
    }
    return true;
}

static bool read_body(const struct request *request, struct response *response,
                      struct entry_body *read)
{
    const char *why = NULL;
    json_object *body = request_json(request, &why);

    if (body == NULL) {
        problem_answer_at(request, response, "", "%s", why);
        return false;
    }
    return read_text(request, response, body, "code", CODE_TEXT_MAX, &read->code) &&
           read_text(request, response, body, "captcha", ALTCHA_PAYLOAD_MAX, &read->captcha);
}

static struct redis_command *ask_alone(const struct request *request, struct line_query *query)
{
    query->state = LINE_QUERY_ASKED;
    return line_enter(request->arena, query->caller, LINE_TAKE_OVER);
}

struct redis_command *enter_begin(const struct services *services, const struct request *request,
                                  struct response *response, void **memory)
{
    struct entering *entering = arena_alloc(request->arena, sizeof(*entering));
    struct entry_body body = {0};

    if (!read_body(request, response, &body)) {
        return NULL;
    }
    struct line_caller *caller = identify_entrant(services, request, response);
    if (caller == NULL) {
        return NULL;
    }
    *entering = (struct entering){
        .query = line_query_new(request->arena, caller, LINE_QUERY_ENTRY),
        .why = WHY_NO_PROOF,
    };
    *memory = entering;
    caller->code = body.code;
    if (body.captcha.n > 0) {
        caller->proof = entry_proof_check(services, request, caller, body.captcha, &entering->why);
    }
    if (body.code.n > 0 || body.captcha.n > 0) {
        return ask_alone(request, entering->query);
    }
    response->query = entering->query;
    return NULL;
}

void enter_finish(const struct services *services, const struct request *request,
                  const redisReply *reply, void *memory, struct response *response)
{
    const struct entering *entering = memory;
    struct line_query *query = entering->query;
    const struct line_caller *caller = query->caller;

    if (query->state == LINE_QUERY_UNDECIDED) {
        response->follow_up = ask_alone(request, query);
        return;
    }
    enum outcome outcome = line_query_outcome(query, reply);
    const struct line_position *position = &query->position;

    if (outcome == OUTCOME_CAPTCHA_FAILED) {
        metrics_add(METRIC_ENTRIES_REFUSED, 1);
        entry_proof_wanted(request, response, caller->queue,
                           caller->proof.n > 0 ? WHY_PROOF_SPENT : entering->why);
        return;
    }
    if (outcome != OUTCOME_ENTERED && outcome != OUTCOME_ALREADY) {
        refusal_answer(request, response, caller->queue, caller->has_ticket, outcome, reply);
        metrics_add(METRIC_ENTRIES_REFUSED, response->follow_up == NULL);
        return;
    }
    metrics_add(outcome == OUTCOME_ENTERED ? METRIC_ENTRIES_NEW : METRIC_ENTRIES_AGAIN, 1);
    struct str ticket = ticket_issue(services, request, caller, position);
    if (ticket.n == 0) {
        log_event(LOG_LEVEL_ERROR, "ticket.not_signed",
                  LOG_FIELDS(LOG_STR("queue", caller->queue), LOG_INT("seq", position->seq)));
        problem_answer(request, response, PROBLEM_INTERNAL_ERROR,
                       "The ticket could not be signed.");
        return;
    }
    log_set_request(request->request_id, request->traceparent);
    log_event(LOG_LEVEL_DEBUG, "queue.entered",
              LOG_FIELDS(LOG_STR("queue", caller->queue), LOG_INT("number", position->seq),
                         LOG_INT("again", outcome == OUTCOME_ALREADY)));
    log_set_request(str_sized(NULL, 0), str_sized(NULL, 0));
    seen_queues_add(caller->queue);
    position_json_answer(response, outcome == OUTCOME_ENTERED ? 201 : 200, caller->queue, position,
                         ticket);
    ticket_cookie_set(services, request, response, caller->queue, ticket, position->status);
}
