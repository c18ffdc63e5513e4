/*
 * GET /readyz — 200 if Redis and PostgreSQL answer, else 503 naming the part that does not.
 * The queue pool has its own form: readyz_line.
 *
 * Reply     200 {"status": "ok", "parts": {"redis": "ok", "postgres": "ok"}}, or 503 with
 *           "unavailable" for the status and each part that does not answer
 * Errors    none but that 503, which is no problem document
 * Touches   a PING to Redis, sql/queries/store/session_ping.sql
 */
#include "fcgi-app/machine/ready_parts.h"
#include "fcgi-app/pool/handler.h"
#include "lib/store/postgres.h"
#include "lib/store/redis.h"
#include "lib/store/redis_ping.h"

void readyz(const struct services *services, const struct request *request,
            struct response *response)
{
    const redisReply *pong =
        redis_call(services->redis, request->arena, redis_ping_ask(request->arena));
    const struct ready_part parts[] = {
        {"redis", redis_ping_answered(pong)},
        {"postgres", postgres_alive(services->postgres)},
    };

    ready_parts_answer(response, parts, sizeof(parts) / sizeof(parts[0]));
}
