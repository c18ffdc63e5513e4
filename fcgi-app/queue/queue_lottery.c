/*
 * GET /v1/queues/{queue}/lottery — the public data of the draw, from which it can be verified.
 *
 * Reply     200 {"queue", "phase", "commitment", "entrants", "opensAt", "epoch", "seed", "secret",
 *           "listHash", "ranges", "serverTime"}, cacheable for 1 s; seed, secret, listHash and
 *           ranges are null before the draw
 * Errors    404 NOT_FOUND also for a queue that is no lottery; 503 ADMISSION_UNAVAILABLE
 * Touches   lua/lottery/lottery.lua
 */
#include "fcgi-app/http/problem.h"
#include "fcgi-app/pool/line_handler.h"
#include "fcgi-app/queue/refusal.h"
#include "lib/admission/lottery/lottery_state.h"
#include "lib/base/clock.h"

struct redis_command *queue_lottery_begin(const struct services *services,
                                          const struct request *request, struct response *response,
                                          void **memory)
{
    (void)services;
    (void)response;
    (void)memory;
    return lottery_state_ask(request->arena, request->parameters[0]);
}

static void add_text(struct buffer *body, const char *name, struct str text)
{
    buffer_format(body, ",\"%s\":", name);
    if (text.n > 0) {
        buffer_add_json_string(body, text);
    } else {
        buffer_add(body, STR("null"));
    }
}

static void add_time(struct buffer *body, const char *name, int64_t ms)
{
    char text[RFC3339_TEXT + 1];

    if (ms >= 0) {
        rfc3339_format(ms, text);
    }
    add_text(body, name, ms >= 0 ? str_of(text) : str_sized(NULL, 0));
}

void queue_lottery_finish(const struct services *services, const struct request *request,
                          const redisReply *reply, void *memory, struct response *response)
{
    struct buffer *body = &response->body;
    struct str queue = request->parameters[0];
    struct lottery_state state;
    enum outcome outcome = lottery_state_read(reply, &state);

    (void)services;
    (void)memory;
    if (lottery_state_is_none(reply)) {
        problem_answer(request, response, PROBLEM_NOT_FOUND, "The queue %.*s is not a lottery.",
                       STR_ARG(queue));
        return;
    }
    if (outcome != OUTCOME_OK) {
        refusal_answer(request, response, queue, false, outcome, reply);
        return;
    }
    response_json(response, 200);
    response->cache_control = "public, max-age=1";
    buffer_format(body, "{\"queue\":\"%.*s\"", STR_ARG(queue));
    add_text(body, "phase", state.phase);
    add_text(body, "commitment", state.commitment);
    buffer_format(body, ",\"entrants\":%lld", (long long)state.entrants);
    add_time(body, "opensAt", state.opens_at_ms);
    buffer_format(body, ",\"epoch\":%lld", (long long)state.epoch);
    add_text(body, "seed", state.seed);
    add_text(body, "secret", state.secret);
    add_text(body, "listHash", state.list_hash);
    add_text(body, "ranges", state.ranges);
    add_time(body, "serverTime", state.now_ms);
    buffer_add_char(body, '}');
}
