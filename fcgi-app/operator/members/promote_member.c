/*
 * POST /v1/admin/queues/{queue}/members/{member}/promote — admits one member ahead of the line,
 * within maxActive; the admission is deducted from the rate.
 *
 * Reply     200 as GET of the member
 * Errors    401 UNAUTHENTICATED, 403 FORBIDDEN, 404 NOT_FOUND, 409 NO_ROOM, 409 ALREADY_ACTIVE,
 *           503 ORDERS_UNAVAILABLE, 503 ADMISSION_UNAVAILABLE
 * Touches   sql/queries/audit/audit_note.sql; lua/members/member_admit.lua, and as GET of the
 *           member
 * Roles     operator
 */
#include "fcgi-app/operator/members/member_call.h"
#include "fcgi-app/pool/handler.h"
#include "lib/admission/members/member.h"

void promote_member(const struct services *services, const struct request *request,
                    struct response *response)
{
    struct member_call call;
    enum outcome outcome;

    if (!member_begin(services, request, response, false, &call) ||
        !member_act(services, request, response, &call, "member.promote",
                    member_admit(request->arena, call.operator.id, call.member), &outcome)) {
        return;
    }
    if (outcome == OUTCOME_ADMITTED) {
        member_answer(services, request, response, &call);
    } else {
        member_refuse(services, request, response, &call, outcome);
    }
}
