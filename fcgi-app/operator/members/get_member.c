/*
 * GET /v1/admin/queues/{queue}/members/{member} — one member's place in a queue.
 *
 * Reply     200 {"queue", "member", "queueState", "standing": "READY|CLAIMED|WAITING|AWAY|NONE",
 *           "seq", "generation", "rank", "endsAt", "hasSeenToken", "unpaidOrder", "serverTime"};
 *           endsAt: of the token, of the running order's lease, or of the number kept while
 *           the member is away
 * Errors    401 UNAUTHENTICATED, 404 NOT_FOUND, 503 ORDERS_UNAVAILABLE, 503 ADMISSION_UNAVAILABLE
 * Touches   lua/members/member_find.lua, stats.lua; sql/queries/queues/queue_get.sql
 * Roles     operator, viewer
 */
#include "fcgi-app/operator/members/member_call.h"
#include "fcgi-app/pool/handler.h"
#include "lib/admission/members/member.h"

void get_member(const struct services *services, const struct request *request,
                struct response *response)
{
    struct member_call call;

    if (member_begin(services, request, response, true, &call)) {
        member_answer(services, request, response, &call);
    }
}
