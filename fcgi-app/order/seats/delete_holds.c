/*
 * DELETE /v1/shows/{show}/holds — release held seats.
 *
 * Request   no body, or {"seats": [id, …]}: only these; seats that the member does not hold are
 *           skipped. No entry token is needed: holds outlive it
 * Reply     204, also if nothing was held
 * Errors    401 UNAUTHENTICATED, 400 INVALID_REQUEST, 404 NOT_FOUND, 409 ORDER_IN_PROGRESS (an
 *           order is running on one of them: nothing was released), 503 ADMISSION_UNAVAILABLE
 * Touches   lua/seats/seats_release.lua, the catalogue
 */
#include "fcgi-app/http/caller.h"
#include "fcgi-app/http/problem.h"
#include "fcgi-app/order/body_parts.h"
#include "fcgi-app/order/seats/seat_answer.h"
#include "fcgi-app/pool/handler.h"

/* False: answered. */
static bool read_seats(const struct request *request, struct response *response,
                       struct body_seats *seats)
{
    static const char *const MEMBERS[] = {"seats", NULL};
    struct body_fault fault;
    const char *why;
    json_object *json = request_json(request, &why);

    *seats = (struct body_seats){0};
    if (json == NULL) {
        problem_answer_at(request, response, "", "%s", why);
        return false;
    }
    if (body_only_members(request->arena, json, "", MEMBERS, &fault) &&
        (!json_object_object_get_ex(json, "seats", NULL) ||
         body_seats_read(request->arena, json, 1, SEATS_MAX, seats, &fault))) {
        return true;
    }
    problem_answer_at(request, response, fault.pointer, "%s", fault.why);
    return false;
}

void delete_holds(const struct services *services, const struct request *request,
                  struct response *response)
{
    struct caller caller;
    struct body_seats seats;
    struct show_ref show;
    struct seat_refusal refusal;

    if (!caller_require(services, request, response, &caller) ||
        !read_seats(request, response, &seats) ||
        !seat_answer_find_show(services, request, response, request->parameters[0], &show)) {
        return;
    }
    enum outcome outcome = seats_release(services->redis, request->arena, &show, caller.id,
                                         seats.seats, seats.count, &refusal);
    if (outcome == OUTCOME_RELEASED) {
        response->status = 204;
    } else {
        seat_answer_hold_refusal(request, response, outcome, &refusal);
    }
}
