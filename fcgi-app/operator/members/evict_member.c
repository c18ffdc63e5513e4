/*
 * POST /v1/admin/queues/{queue}/members/{member}/evict — removes one member from the line or from
 * the shop; a pass through the gate ends within a second on every host.
 *
 * Reply     200 as GET of the member, also if there was nothing to remove
 * Errors    401 UNAUTHENTICATED, 403 FORBIDDEN, 404 NOT_FOUND, 409 ORDER_IN_PROGRESS,
 *           503 ORDERS_UNAVAILABLE, 503 ADMISSION_UNAVAILABLE
 * Touches   sql/queries/audit/audit_note.sql; lua/members/member_end.lua, and as GET of the member
 * Roles     operator
 */
#include "fcgi-app/operator/members/member_call.h"
#include "fcgi-app/pool/handler.h"
#include "lib/admission/members/member.h"

void evict_member(const struct services *services, const struct request *request,
                  struct response *response)
{
    struct member_call call;
    enum outcome outcome;

    if (!member_begin(services, request, response, false, &call) ||
        !member_act(services, request, response, &call, "member.evict",
                    member_end(request->arena, call.operator.id, call.member, str_sized(NULL, 0)),
                    &outcome)) {
        return;
    }
    if (outcome == OUTCOME_ENDED || outcome == OUTCOME_NOT_THERE) {
        member_answer(services, request, response, &call);
    } else {
        member_refuse(services, request, response, &call, outcome);
    }
}
