/*
 * GET /v1/admin/shows/{show}[?seats=false] — a show with its complete plan, as PUT accepts it; with
 * seats=false without the plan.
 *
 * Reply     200 {"show", "concert", "startsAt", "queue", "maxSeatsPerMember", "holdTtlSeconds",
 *           "currency" (null: no seats yet), "seatCount", "taken" (ordered or sold), "version",
 *           "createdAt", "updatedAt", "seats": [{"id", "section", "row", "number", "price":
 *           {"amount", "currency"}}, …] in the plan's order}
 * Errors    401 UNAUTHENTICATED, 400 INVALID_REQUEST, 404 NOT_FOUND, 503 ORDERS_UNAVAILABLE
 * Touches   sql/queries/seats/show_find.sql, show_plan.sql; never Redis
 * Roles     operator, viewer
 */
#include "fcgi-app/http/problem.h"
#include "fcgi-app/operator/concerts/show_answer.h"
#include "fcgi-app/operator/operator_call.h"
#include "fcgi-app/pool/handler.h"

/* Reads ?seats=true|false. */
static bool read_wanted(const struct request *request, struct response *response, bool *seats)
{
    struct str value;

    *seats = true;
    if (!request_query(request, STR("seats"), &value)) {
        return true;
    }
    *seats = str_equal(value, STR("true"));
    if (!*seats && !str_equal(value, STR("false"))) {
        problem_answer(request, response, PROBLEM_INVALID_REQUEST, "seats must be true or false.");
        return false;
    }
    return true;
}

void get_show_admin(const struct services *services, const struct request *request,
                    struct response *response)
{
    struct operator_call call;
    struct show_record show;
    const struct plan_seat *seats = NULL;
    size_t count = 0;
    bool wanted;

    if (!operator_begin(services, request, response, true, &call) ||
        !read_wanted(request, response, &wanted)) {
        return;
    }
    enum show_outcome found = show_store_find(services->postgres, request->arena, call.id, &show);
    if (found == SHOW_FOUND && wanted) {
        found = show_store_plan(services->postgres, request->arena, call.id, &seats, &count);
    }
    if (found != SHOW_FOUND) {
        (void)show_refuse(request, response, found, "show", call.id);
        return;
    }
    show_answer(response, 200, &show, seats, count);
}
