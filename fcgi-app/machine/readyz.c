/*
 * GET /readyz — 200 if Redis and PostgreSQL answer, else 503 naming the part that does not.
 * The queue pool has its own form: readyz_line.
 */
#include "fcgi-app/machine/ready_parts.h"
#include "fcgi-app/pool/handler.h"
#include "lib/store/postgres.h"
#include "lib/store/redis.h"

void readyz(const struct services *services, const struct request *request,
            struct response *response)
{
    const redisReply *pong =
        redis_call(services->redis, request->arena, redis_command_new(request->arena, "PING"));
    const struct ready_part parts[] = {
        {"redis", pong != NULL && pong->type == REDIS_REPLY_STATUS},
        {"postgres", postgres_alive(services->postgres)},
    };

    ready_parts_answer(response, parts, sizeof(parts) / sizeof(parts[0]));
}
