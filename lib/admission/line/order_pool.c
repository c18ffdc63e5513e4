#include "lib/admission/line/order_pool.h"

#include "lib/store/redis_reply.h"

enum outcome order_pool_beat(struct redis *redis, struct arena *arena, int64_t silence_ms)
{
    struct redis_command *command =
        redis_command_script(arena, SCRIPT_POOL_BEAT, str_sized(NULL, 0));

    redis_command_add_int(command, silence_ms);
    return outcome_of(redis_call(redis, arena, command));
}

bool order_pool_read_life(struct redis *redis, struct arena *arena, struct order_pool_life *life)
{
    const redisReply *reply =
        redis_call(redis, arena, redis_command_script(arena, SCRIPT_POOL_LIFE, str_sized(NULL, 0)));

    if (outcome_of(reply) != OUTCOME_OK) {
        return false;
    }
    life->seen_ms = redis_reply_int(reply, 1, -1);
    life->silent_ms = redis_reply_int(reply, 2, 0);
    return true;
}
