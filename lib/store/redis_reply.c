#include "lib/store/redis_reply.h"

static const redisReply *element(const redisReply *reply, size_t index)
{
    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY || index >= reply->elements) {
        return NULL;
    }
    return reply->element[index];
}

struct str redis_reply_text(const redisReply *reply, size_t index)
{
    const redisReply *part = element(reply, index);

    if (part == NULL || (part->type != REDIS_REPLY_STRING && part->type != REDIS_REPLY_STATUS)) {
        return str_sized(NULL, 0);
    }
    return str_sized(part->str, (size_t)part->len);
}

int64_t redis_reply_int(const redisReply *reply, size_t index, int64_t otherwise)
{
    const redisReply *part = element(reply, index);

    if (part != NULL && part->type == REDIS_REPLY_INTEGER) {
        return part->integer;
    }
    (void)str_to_int64(redis_reply_text(reply, index), INT64_MIN, INT64_MAX, &otherwise);
    return otherwise;
}

bool redis_reply_is_noscript(const redisReply *reply)
{
    return reply != NULL && reply->type == REDIS_REPLY_ERROR &&
           str_starts(str_sized(reply->str, (size_t)reply->len), STR("NOSCRIPT"));
}
