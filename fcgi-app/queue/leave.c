/*
 * DELETE /v1/queues/{queue}/entries — give up the place in line or the unused entry token.
 *
 * Request   as for position
 * Reply     204, also without a place
 * Errors    401 UNAUTHENTICATED, 401 TICKET_INVALID, 404 NOT_FOUND, 409 ORDER_IN_PROGRESS,
 *           409 SESSION_REVOKED, 503 ADMISSION_UNAVAILABLE
 * Touches   lua/line/leave.lua
 */
#include "fcgi-app/pool/line_handler.h"
#include "fcgi-app/queue/identify_caller.h"
#include "fcgi-app/queue/refusal.h"
#include "fcgi-app/queue/ticket_cookie.h"
#include "lib/admission/snapshot/snapshot.h"

struct redis_command *leave_begin(const struct services *services, const struct request *request,
                                  struct response *response, void **memory)
{
    struct line_caller *caller = identify_caller(services, request, response);

    *memory = caller;
    return caller == NULL ? NULL : line_leave(request->arena, caller);
}

void leave_finish(const struct services *services, const struct request *request,
                  const redisReply *reply, void *memory, struct response *response)
{
    const struct line_caller *caller = memory;
    int64_t seq;
    enum outcome outcome = line_read_left(reply, &seq);

    if (outcome != OUTCOME_LEFT && outcome != OUTCOME_NOT_THERE) {
        refusal_answer(request, response, caller->queue, caller->has_ticket, outcome, reply);
        return;
    }
    if (outcome == OUTCOME_LEFT) {
        snapshot_doubt(services->snapshot, caller->queue, seq);
    }
    response->status = 204;
    if (ticket_cookie_read(services, request, caller->queue).n > 0) {
        ticket_cookie_clear(services, request, response, caller->queue);
    }
}
