/*
 * GET /v1/captcha/challenge?event= — a proof of work for the caller at one coupon event.
 *
 * Request   event: a slug; whether the event exists is not checked. Without it: for any event that
 *           the caller chooses
 * Reply     200 ALTCHA's JSON: {"parameters": {..}, "signature"}, good for five minutes
 * Errors    401 UNAUTHENTICATED, 400 INVALID_REQUEST, 404 NOT_FOUND if no altcha_keys_file is
 *           set
 * Touches   nothing: neither Redis nor PostgreSQL
 */
#include "fcgi-app/http/caller.h"
#include "fcgi-app/http/problem.h"
#include "fcgi-app/order/captcha/captcha.h"
#include "fcgi-app/pool/handler.h"
#include "lib/base/clock.h"
#include "lib/base/identifier.h"

void get_challenge(const struct services *services, const struct request *request,
                   struct response *response)
{
    struct caller caller;
    struct str event = STR("");

    if (!caller_require(services, request, response, &caller)) {
        return;
    }
    if (request_query(request, STR("event"), &event) && !identifier_is_slug(event)) {
        problem_answer(request, response, PROBLEM_INVALID_REQUEST,
                       "The parameter event must be the id of a coupon event.");
        return;
    }
    if (services->altcha_keys == NULL) {
        problem_answer(request, response, PROBLEM_NOT_FOUND,
                       "Proofs of work are not configured here.");
        return;
    }
    const struct altcha_subject subject = captcha_subject(request->arena, event, caller.id);
    response_json(response, 200);
    altcha_challenge(services->altcha_keys, request->arena, &subject, clock_wall_ms(),
                     &response->body);
}
