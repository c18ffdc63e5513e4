#include "lib/admission/line/line_state_json.h"

#include <stdlib.h>

#include "lib/store/redis_reply.h"

enum { RANGE = 1024 };

static const int64_t RANGE_LAST = ((int64_t)1 << 41) / RANGE; /* of the highest place number */

struct departure {
    int64_t from;
    int64_t to;
    int64_t count;
};

static int by_numbers(const void *a, const void *b)
{
    const struct departure *left = a, *right = b;

    return (left->from > right->from) - (left->from < right->from);
}

static void add_departures(struct buffer *out, struct arena *arena, const struct line_state *state)
{
    size_t pairs = state->departures == NULL ? 0 : state->departures->elements / 2;
    struct departure *list = arena_alloc(arena, (pairs + 1) * sizeof(*list));
    size_t count = 0;

    if (state->uncounted > 0 && state->uncounted_to >= state->head_seq) {
        list[count++] = (struct departure){state->head_seq, state->uncounted_to, state->uncounted};
    }
    for (size_t i = 0; i < pairs; i++) {
        int64_t range = redis_reply_int(state->departures, 2 * i, -1);
        if (range >= 0 && range <= RANGE_LAST && range >= state->head_seq / RANGE) {
            list[count++] = (struct departure){range * RANGE, range * RANGE + RANGE - 1,
                                               redis_reply_int(state->departures, 2 * i + 1, 0)};
        }
    }
    if (count > 1) {
        qsort(list, count, sizeof(*list), by_numbers);
    }
    buffer_add(out, STR(",\"departures\":["));
    for (size_t i = 0; i < count; i++) {
        buffer_format(out, "%s{\"from\":%lld,\"to\":%lld,\"count\":%lld}", i == 0 ? "" : ",",
                      (long long)list[i].from, (long long)list[i].to, (long long)list[i].count);
    }
    buffer_add_char(out, ']');
}

static void add_time(struct buffer *out, const char *name, int64_t ms)
{
    buffer_format(out, ",\"%s\":", name);
    buffer_add_json_time(out, ms);
}

static void add_message(struct buffer *out, struct str message)
{
    buffer_add(out, STR(",\"message\":"));
    if (message.n == 0) {
        buffer_add(out, STR("null"));
    } else {
        buffer_add_json_string(out, message);
    }
}

void line_state_json(struct buffer *out, struct arena *arena, struct str queue,
                     const struct line_state *state)
{
    const int64_t admitted_milli = state->admitted_milli < 0 ? 0 : state->admitted_milli;

    buffer_format(out, "{\"queue\":\"%.*s\",\"state\":", STR_ARG(queue));
    buffer_add_json_string(out, state->queue_state);
    buffer_format(out, ",\"waiting\":%lld,\"headSeq\":%lld,\"lastSeq\":%lld",
                  (long long)state->waiting, (long long)state->head_seq,
                  (long long)state->last_seq);
    add_departures(out, arena, state);
    buffer_format(out, ",\"admittedPerSecond\":%lld.%03lld", (long long)admitted_milli / 1000,
                  (long long)admitted_milli % 1000);
    buffer_format(out, ",\"epoch\":%lld,\"incarnation\":%lld", (long long)state->epoch,
                  (long long)state->incarnation);
    add_time(out, "serverTime", state->now_ms);
    add_message(out, state->message);
    add_time(out, "opensAt", state->opens_at_ms);
    add_time(out, "closesAt", state->closes_at_ms);
    buffer_add(out, STR(",\"activation\":"));
    buffer_add_json_string(out, state->activation);
    buffer_add(out, STR(",\"mode\":"));
    buffer_add_json_string(out, state->mode);
    buffer_add_char(out, '}');
}
