#include "lib/store/redis_ping.h"

struct redis_command *redis_ping_ask(struct arena *arena)
{
    return redis_command_new(arena, "PING");
}

bool redis_ping_answered(const redisReply *reply)
{
    return reply != NULL && reply->type == REDIS_REPLY_STATUS;
}
