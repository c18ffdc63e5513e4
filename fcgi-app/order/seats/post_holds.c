/*
 * POST /v1/shows/{show}/holds — hold seats: all of them or none.
 *
 * Request   header X-Entry-Token; {"seats": [id, …], "replace": false}. Seats that the member
 *           already holds stay and keep their deadlines; with "replace": true the member's other
 *           holds are released in the same step
 * Reply     201 {"seats", "expiresAt", "held": [{"seat", "expiresAt"}], "serverTime"}: all current
 *           holds of the member, soonest deadline first
 * Errors    in this order: 401 UNAUTHENTICATED, 400 INVALID_REQUEST, 422 TOO_MANY_SEATS (over 100
 *           named), 401 ENTRY_TOKEN_REQUIRED, 404 NOT_FOUND; then 401 ENTRY_TOKEN_INVALID,
 *           409 ORDER_IN_PROGRESS, 422 UNKNOWN_SEAT ("unknown"), 422 TOO_MANY_SEATS ("most"),
 *           409 SEATS_TAKEN ("taken"), 503 ADMISSION_UNAVAILABLE. After any of them all holds are
 *           as before
 * Touches   lua/seats/seats_hold.lua, the catalogue; PostgreSQL only if the catalogue lacks the
 *           show
 */
#include "fcgi-app/http/caller.h"
#include "fcgi-app/http/problem.h"
#include "fcgi-app/order/body_parts.h"
#include "fcgi-app/order/seats/hold_answer.h"
#include "fcgi-app/order/seats/seat_answer.h"
#include "fcgi-app/pool/handler.h"

struct hold_request {
    struct body_seats seats;
    bool replace;
};

static bool read_replace(json_object *json, bool *replace, struct body_fault *fault)
{
    json_object *value;

    *replace = false;
    if (!json_object_object_get_ex(json, "replace", &value)) {
        return true;
    }
    if (!json_object_is_type(value, json_type_boolean)) {
        return body_fail(fault, "/replace", "replace must be true or false.");
    }
    *replace = json_object_get_boolean(value);
    return true;
}

/* Checks what needs neither Redis nor PostgreSQL; false: answered. */
static bool validate(const struct request *request, struct response *response,
                     struct hold_request *hold_request)
{
    static const char *const MEMBERS[] = {"seats", "replace", NULL};
    struct body_fault fault;
    const char *why;
    json_object *json = request_json(request, &why);

    if (json == NULL) {
        problem_answer_at(request, response, "", "%s", why);
        return false;
    }
    if (body_seats_count(json) > SEATS_MAX) {
        struct seat_refusal refusal = {.most = SEATS_MAX};
        seat_answer_refusal(request, response, OUTCOME_TOO_MANY_SEATS, &refusal);
        return false;
    }
    if (!body_only_members(request->arena, json, "", MEMBERS, &fault) ||
        !read_replace(json, &hold_request->replace, &fault) ||
        !body_seats_read(request->arena, json, 1, SEATS_MAX, &hold_request->seats, &fault)) {
        problem_answer_at(request, response, fault.pointer, "%s", fault.why);
        return false;
    }
    if (request->entry_token.n == 0) {
        problem_answer(request, response, PROBLEM_ENTRY_TOKEN_REQUIRED,
                       "Send the entryToken of your position as X-Entry-Token.");
        return false;
    }
    return true;
}

void post_holds(const struct services *services, const struct request *request,
                struct response *response)
{
    struct caller caller;
    struct hold_request hold_request;
    struct show_ref show;
    struct seat_holds holds;
    struct seat_refusal refusal;

    if (!caller_require(services, request, response, &caller) ||
        !validate(request, response, &hold_request) ||
        !seat_answer_find_show(services, request, response, request->parameters[0], &show)) {
        return;
    }
    enum outcome outcome = seats_hold(
        services->redis, request->arena, &show, caller.id, request->entry_token,
        hold_request.seats.seats, hold_request.seats.count, hold_request.replace, &holds, &refusal);
    if (outcome == OUTCOME_HELD) {
        hold_answer(response, 201, &holds);
    } else {
        seat_answer_hold_refusal(request, response, outcome, &refusal);
    }
}
