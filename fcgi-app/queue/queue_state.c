/*
 * GET /v1/queues/{queue} — the queue's public state, the same for everyone.
 *
 * Reply    200 {"queue", "state", "waiting", "headSeq", "lastSeq", "departures": [{"from", "to", "count"}],
 *          "admittedPerSecond", "epoch", "incarnation", "serverTime", "message", "opensAt", "closesAt"},
 *          cacheable for 1 s. Departures are given for numbers from the head on: how many of those left.
 * Errors   NOT_FOUND 404, ADMISSION_UNAVAILABLE 503
 * Touches  lua/queue_state.lua
 */
#include <stdlib.h>

#include "fcgi-app/pool/line_handler.h"
#include "fcgi-app/queue/refusal.h"
#include "fcgi-app/queue/seen_queues.h"
#include "lib/admission/line.h"
#include "lib/base/clock.h"
#include "lib/store/redis_reply.h"

enum { RANGE = 1024 };

static const int64_t RFC3339_LAST_MS = 253402300799999;

struct departure {
    int64_t range;
    int64_t count;
};

struct redis_command *queue_state_begin(const struct services *services,
                                        const struct request *request, struct response *response,
                                        void **memory)
{
    (void)services;
    (void)response;
    (void)memory;
    return line_state(request->arena, request->parameters[0]);
}

static int by_range(const void *a, const void *b)
{
    const struct departure *left = a, *right = b;

    return (left->range > right->range) - (left->range < right->range);
}

static void add_departures(struct buffer *body, struct arena *arena, const struct line_state *state)
{
    size_t pairs = state->departures == NULL ? 0 : state->departures->elements / 2;
    struct departure *list = arena_alloc(arena, pairs * sizeof(*list));
    size_t count = 0;

    for (size_t i = 0; i < pairs; i++) {
        struct departure one = {redis_reply_int(state->departures, 2 * i, -1),
                                redis_reply_int(state->departures, 2 * i + 1, 0)};
        if (one.range >= state->head_seq / RANGE) {
            list[count++] = one;
        }
    }
    if (count > 1) {
        qsort(list, count, sizeof(*list), by_range);
    }
    buffer_add(body, STR(",\"departures\":["));
    for (size_t i = 0; i < count; i++) {
        buffer_format(body, "%s{\"from\":%lld,\"to\":%lld,\"count\":%lld}", i == 0 ? "" : ",",
                      (long long)(list[i].range * RANGE),
                      (long long)(list[i].range * RANGE + RANGE - 1), (long long)list[i].count);
    }
    buffer_add_char(body, ']');
}

static void add_time(struct buffer *body, const char *name, int64_t ms)
{
    char text[RFC3339_TEXT + 1];

    if (ms < 0 || ms > RFC3339_LAST_MS) {
        buffer_format(body, ",\"%s\":null", name);
        return;
    }
    rfc3339_format(ms, text);
    buffer_format(body, ",\"%s\":\"%s\"", name, text);
}

static void add_message(struct buffer *body, struct str message)
{
    buffer_add(body, STR(",\"message\":"));
    if (message.n == 0) {
        buffer_add(body, STR("null"));
    } else {
        buffer_add_json_string(body, message);
    }
}

void queue_state_finish(const struct services *services, const struct request *request,
                        const redisReply *reply, void *memory, struct response *response)
{
    struct buffer *body = &response->body;
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
    buffer_format(body, "{\"queue\":\"%.*s\",\"state\":\"%.*s\"", STR_ARG(queue),
                  STR_ARG(state.queue_state));
    buffer_format(body, ",\"waiting\":%lld,\"headSeq\":%lld,\"lastSeq\":%lld",
                  (long long)state.waiting, (long long)state.head_seq, (long long)state.last_seq);
    add_departures(body, request->arena, &state);
    buffer_format(body, ",\"admittedPerSecond\":%lld.%03lld",
                  (long long)state.admitted_milli / 1000, (long long)state.admitted_milli % 1000);
    buffer_format(body, ",\"epoch\":%lld,\"incarnation\":%lld", (long long)state.epoch,
                  (long long)state.incarnation);
    add_time(body, "serverTime", state.now_ms);
    add_message(body, state.message);
    add_time(body, "opensAt", state.opens_at_ms);
    add_time(body, "closesAt", state.closes_at_ms);
    buffer_add_char(body, '}');
}
