/*
 * GET /v1/queues/{queue}/challenge — a proof of work for entering, if the queue's entryCaptcha is
 * altcha.
 *
 * Request   the caller as for POST …/entries: a visitor without a cookie gets one, and must enter
 *           with it
 * Reply     200 ALTCHA's JSON: {"parameters": {..}, "signature"}, valid for five minutes; whether
 *           the queue exists and requires one is not checked
 * Errors    401 UNAUTHENTICATED, 401 TICKET_INVALID, 403 COOKIES_REQUIRED
 * Touches   nothing
 */
#include "fcgi-app/pool/line_handler.h"
#include "fcgi-app/queue/entry_proof.h"
#include "fcgi-app/queue/identify_caller.h"

struct redis_command *entry_challenge_begin(const struct services *services,
                                            const struct request *request,
                                            struct response *response, void **memory)
{
    const struct line_caller *caller = identify_entrant(services, request, response);

    (void)memory;
    if (caller != NULL) {
        response_json(response, 200);
        entry_proof_challenge(services, request, caller, &response->body);
    }
    return NULL;
}

void entry_challenge_finish(const struct services *services, const struct request *request,
                            const redisReply *reply, void *memory, struct response *response)
{
    (void)services;
    (void)request;
    (void)reply;
    (void)memory;
    (void)response;
}
