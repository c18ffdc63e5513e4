/*
 * GET /v1/queues/{queue} — the queue's public state, the same for everyone.
 *
 * Reply     200, the document of lib/admission/line/line_state_json.h, cacheable for 1 s
 * Errors    404 NOT_FOUND, 503 ADMISSION_UNAVAILABLE
 * Touches   lua/line/queue_state.lua
 */
#include "fcgi-app/pool/line_handler.h"
#include "fcgi-app/queue/refusal.h"
#include "fcgi-app/queue/seen_queues.h"
#include "lib/admission/line/line.h"
#include "lib/admission/line/line_state_json.h"

struct redis_command *queue_state_begin(const struct services *services,
                                        const struct request *request, struct response *response,
                                        void **memory)
{
    (void)services;
    (void)response;
    (void)memory;
    return line_state(request->arena, request->parameters[0]);
}

void queue_state_finish(const struct services *services, const struct request *request,
                        const redisReply *reply, void *memory, struct response *response)
{
    struct str queue = request->parameters[0];
    struct line_state state;
    enum outcome outcome = line_read_state(reply, &state);

    (void)services;
    (void)memory;
    if (outcome != OUTCOME_OK) {
        refusal_answer(request, response, queue, false, outcome, reply);
        return;
    }
    seen_queues_add(queue);
    response_json(response, 200);
    response->cache_control = "public, max-age=1";
    line_state_json(&response->body, request->arena, queue, &state);
}
