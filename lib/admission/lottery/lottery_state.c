#include "lib/admission/lottery/lottery_state.h"

#include "lib/store/redis_reply.h"

struct redis_command *lottery_state_ask(struct arena *arena, struct str queue)
{
    return redis_command_script(arena, SCRIPT_LOTTERY, queue);
}

enum outcome lottery_state_read(const redisReply *reply, struct lottery_state *state)
{
    enum outcome outcome = outcome_of(reply);

    if (outcome != OUTCOME_OK) {
        return outcome;
    }
    *state = (struct lottery_state){
        .phase = redis_reply_text(reply, 1),
        .commitment = redis_reply_text(reply, 2),
        .entrants = redis_reply_int(reply, 3, 0),
        .opens_at_ms = redis_reply_int(reply, 4, -1),
        .epoch = redis_reply_int(reply, 5, 0),
        .secret = redis_reply_text(reply, 7),
        .now_ms = redis_reply_int(reply, 8, 0),
    };
    struct str rest;
    if (str_split(redis_reply_text(reply, 6), ' ', &state->seed, &rest)) {
        (void)str_split(rest, ' ', &state->list_hash, &state->ranges);
    }
    return outcome;
}

bool lottery_state_is_none(const redisReply *reply)
{
    return outcome_of(reply) == OUTCOME_NOT_FOUND &&
           str_equal(redis_reply_text(reply, 1), STR("no lottery"));
}

struct redis_command *lottery_entrants_ask(struct arena *arena, struct str queue, int64_t from,
                                           int64_t count)
{
    struct redis_command *command = redis_command_new(arena, "LRANGE");

    redis_command_add(command,
                      str_of(arena_format(arena, "sluice:{%.*s}:entrants", STR_ARG(queue))));
    redis_command_add_int(command, from);
    redis_command_add_int(command, from + count - 1);
    return command;
}

const struct str *lottery_entrants_read(const redisReply *reply, struct arena *arena, size_t *count)
{
    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY) {
        return NULL;
    }
    struct str *lines = arena_alloc(arena, (reply->elements + 1) * sizeof(*lines));
    for (size_t i = 0; i < reply->elements; i++) {
        lines[i] = redis_reply_text(reply, i);
    }
    *count = reply->elements;
    return lines;
}
