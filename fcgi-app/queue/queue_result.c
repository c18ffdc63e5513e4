/*
 * GET /v1/queues/{queue}/result — how the queue went, for everyone: without member ids.
 *
 * Reply     200 {"queue", "state", "entered", "admitted", "ordered", "left", "expired",
 *           "lastNumberServed", "firstAdmittedAt", "lastAdmittedAt", "lastWaitSeconds",
 *           "longestWaitSeconds", "soldOutAt", "opensAt", "closesAt", "epoch", "serverTime"},
 *           cacheable for 1 s; null for events that have not happened
 * Errors    404 NOT_FOUND, 503 ADMISSION_UNAVAILABLE
 * Touches   lua/queues/result.lua
 */
#include "lib/admission/queues/queue_result.h"
#include "fcgi-app/pool/line_handler.h"
#include "fcgi-app/queue/refusal.h"

struct redis_command *queue_result_begin(const struct services *services,
                                         const struct request *request, struct response *response,
                                         void **memory)
{
    (void)services;
    (void)response;
    (void)memory;
    return queue_result_ask(request->arena, request->parameters[0]);
}

static void add_number(struct buffer *body, const char *name, int64_t number)
{
    buffer_format(body, ",\"%s\":%lld", name, (long long)number);
}

static void add_time(struct buffer *body, const char *name, int64_t ms)
{
    buffer_format(body, ",\"%s\":", name);
    buffer_add_json_time(body, ms > 0 ? ms : -1);
}

static void add_wait(struct buffer *body, const char *name, bool known, int64_t ms)
{
    if (known) {
        add_number(body, name, (ms + 999) / 1000);
    } else {
        buffer_format(body, ",\"%s\":null", name);
    }
}

void queue_result_finish(const struct services *services, const struct request *request,
                         const redisReply *reply, void *memory, struct response *response)
{
    struct buffer *body = &response->body;
    struct str queue = request->parameters[0];
    struct queue_result result;
    enum outcome outcome = queue_result_read(reply, &result);

    (void)services;
    (void)memory;
    if (outcome != OUTCOME_OK) {
        refusal_answer(request, response, queue, false, outcome, reply);
        return;
    }
    bool served = result.last_served_seq > 0;
    response_json(response, 200);
    response->cache_control = "public, max-age=1";
    buffer_format(body, "{\"queue\":\"%.*s\",\"state\":\"%.*s\"", STR_ARG(queue),
                  STR_ARG(result.queue_state));
    add_number(body, "entered", result.entered);
    add_number(body, "admitted", result.admitted);
    add_number(body, "ordered", result.consumed);
    add_number(body, "left", result.left);
    add_number(body, "expired", result.expired);
    if (served) {
        add_number(body, "lastNumberServed", result.last_served_seq);
    } else {
        buffer_add(body, STR(",\"lastNumberServed\":null"));
    }
    add_time(body, "firstAdmittedAt", result.first_admitted_ms);
    add_time(body, "lastAdmittedAt", result.last_admitted_ms);
    add_wait(body, "lastWaitSeconds", served, result.last_wait_ms);
    add_wait(body, "longestWaitSeconds", served, result.longest_wait_ms);
    add_time(body, "soldOutAt", result.sold_out_ms);
    add_time(body, "opensAt", result.opens_at_ms);
    add_time(body, "closesAt", result.closes_at_ms);
    add_number(body, "epoch", result.epoch);
    add_time(body, "serverTime", result.now_ms);
    buffer_add_char(body, '}');
}
