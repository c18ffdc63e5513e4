/*
 * GET /v1/queues/{queue}/position — where one stands.
 *
 * Request  X-Queue-Ticket or its cookie, or Authorization: Bearer JWT, or a visitor cookie
 * Reply    200 position
 * Errors   UNAUTHENTICATED, TICKET_INVALID 401, NOT_FOUND 404, SESSION_REVOKED, QUEUE_RESET 409,
 *          ADMISSION_UNAVAILABLE 503
 * Touches  lua/position.lua
 */
#include "fcgi-app/pool/line_handler.h"
#include "fcgi-app/queue/position_json.h"
#include "fcgi-app/queue/refusal.h"
#include "fcgi-app/queue/seen_queues.h"
#include "fcgi-app/queue/who_stands.h"

struct redis_command *position_begin(const struct services *services, const struct request *request,
                                     struct response *response, void **memory)
{
    struct line_caller *caller = who_stands(services, request, response);

    *memory = caller;
    return caller == NULL ? NULL : line_position(request->arena, caller);
}

void position_finish(const struct services *services, const struct request *request,
                     const redisReply *reply, void *memory, struct response *response)
{
    const struct line_caller *caller = memory;
    struct line_position position;
    enum outcome outcome = line_read_position(reply, &position);

    (void)services;
    if (outcome != OUTCOME_OK) {
        refusal_answer(request, response, caller->queue, caller->has_ticket, outcome, reply);
        return;
    }
    seen_queues_add(caller->queue);
    position_json_answer(response, 200, caller->queue, &position, str_sized(NULL, 0));
}
