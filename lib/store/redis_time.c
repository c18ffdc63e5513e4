#include "lib/store/redis_time.h"

#include "lib/store/redis_reply.h"

bool redis_time(struct redis *redis, struct arena *arena, int64_t *ms)
{
    const redisReply *reply = redis_call(redis, arena, redis_command_new(arena, "TIME"));
    int64_t seconds;
    int64_t microseconds;

    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY ||
        !str_to_int64(redis_reply_text(reply, 0), 0, INT64_MAX / 1000 - 1, &seconds) ||
        !str_to_int64(redis_reply_text(reply, 1), 0, 999999, &microseconds)) {
        return false;
    }
    *ms = seconds * 1000 + microseconds / 1000;
    return true;
}
