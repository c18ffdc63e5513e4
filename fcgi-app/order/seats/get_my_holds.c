/*
 * GET /v1/shows/{show}/holds/mine — the seats that the caller holds, soonest deadline first.
 *
 * Reply     200 {"seats", "expiresAt", "held": [{"seat", "expiresAt"}], "serverTime"}
 * Errors    401 UNAUTHENTICATED, 404 NOT_FOUND, 503 ADMISSION_UNAVAILABLE
 * Touches   lua/seats/seats_mine.lua, the catalogue
 */
#include "fcgi-app/http/caller.h"
#include "fcgi-app/http/problem.h"
#include "fcgi-app/order/seats/hold_answer.h"
#include "fcgi-app/order/seats/seat_answer.h"
#include "fcgi-app/pool/handler.h"

void get_my_holds(const struct services *services, const struct request *request,
                  struct response *response)
{
    struct caller caller;
    struct show_ref show;
    struct seat_holds holds;

    if (!caller_require(services, request, response, &caller) ||
        !seat_answer_find_show(services, request, response, request->parameters[0], &show)) {
        return;
    }
    enum outcome outcome = seats_mine(services->redis, request->arena, &show, caller.id, &holds);
    if (outcome == OUTCOME_OK) {
        hold_answer(response, 200, &holds);
    } else {
        problem_answer_outcome(request, response, OUTCOME_ADMISSION_UNAVAILABLE);
    }
}
