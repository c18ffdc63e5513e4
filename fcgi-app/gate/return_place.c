/*
 * GET /_sluice/return — the visitor is done: the place is free for the next one immediately. For
 * nginx alone, which calls it after an answer of the site with the header X-Sluice-Return.
 *
 * Request   see visit.h
 * Reply     200, for nginx's log
 * Errors    none: what Redis replies is not looked at
 * Touches   lua/members/member_end.lua
 */
#include "fcgi-app/gate/visit.h"
#include "fcgi-app/pool/line_handler.h"
#include "lib/admission/members/member.h"

struct redis_command *return_place_begin(const struct services *services,
                                         const struct request *request, struct response *response,
                                         void **memory)
{
    struct visit *visit = visit_read(request);

    (void)memory;
    (void)response;
    if (visit == NULL) {
        return NULL;
    }
    visit->known = gate_cache_find(visit->queue);
    visit_identify(services, request, visit);
    if (!visit->has_pass || visit->pass.kind == GATE_PASS_WATCHED) {
        return NULL;
    }
    return member_end(request->arena, visit->queue, visit->id, visit->pass.admission);
}

void return_place_finish(const struct services *services, const struct request *request,
                         const redisReply *reply, void *memory, struct response *response)
{
    (void)services;
    (void)request;
    (void)reply;
    (void)memory;
    (void)response;
}
