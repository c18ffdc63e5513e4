/*
 * GET /v1/queues/{queue}/position — the caller's position.
 *
 * Request   X-Queue-Ticket or its cookie, or Authorization: Bearer JWT, or a visitor cookie
 * Reply     200 position; the waiting page's own poll also gets its ticket's cookie again once it
 *           is the caller's turn, with a shorter life
 * Errors    401 UNAUTHENTICATED, 401 TICKET_INVALID, 404 NOT_FOUND, 409 SESSION_REVOKED,
 *           409 QUEUE_RESET, 503 ADMISSION_UNAVAILABLE
 * Touches   this host's snapshot; plain reads of the main line, batched with others;
 *           lua/line/position.lua if they do not decide
 */
#include "fcgi-app/pool/line_handler.h"
#include "fcgi-app/queue/identify_caller.h"
#include "fcgi-app/queue/position_json.h"
#include "fcgi-app/queue/refusal.h"
#include "fcgi-app/queue/seen_queues.h"
#include "fcgi-app/queue/snapshot_answer.h"
#include "fcgi-app/queue/ticket_cookie.h"
#include "lib/admission/line/line_query.h"
#include "lib/metrics/metrics.h"

struct redis_command *position_begin(const struct services *services, const struct request *request,
                                     struct response *response, void **memory)
{
    struct line_caller *caller = identify_caller(services, request, response);

    if (caller != NULL && !snapshot_answer(services, request, caller, response)) {
        *memory = response->query = line_query_new(request->arena, caller, LINE_QUERY_POSITION);
    }
    return NULL;
}

void position_finish(const struct services *services, const struct request *request,
                     const redisReply *reply, void *memory, struct response *response)
{
    struct line_query *query = memory;
    const struct line_caller *caller = query->caller;

    if (query->state == LINE_QUERY_UNDECIDED) {
        query->state = LINE_QUERY_ASKED;
        response->follow_up = line_position(request->arena, caller);
        return;
    }
    enum outcome outcome = line_query_outcome(query, reply);
    if (outcome != OUTCOME_OK) {
        refusal_answer(request, response, caller->queue, caller->has_ticket, outcome, reply);
        return;
    }
    metrics_add(METRIC_POSITIONS_REDIS, 1);
    seen_queues_add(caller->queue);
    position_json_answer(response, 200, caller->queue, &query->position, str_sized(NULL, 0));
    if (request->from_room && caller->has_ticket && query->position.status == LINE_READY) {
        ticket_cookie_shorten(services, request, response, caller->queue);
    }
}
