#include "fcgi-app/machine/readyz_line.h"

#include "fcgi-app/machine/ready_parts.h"
#include "lib/store/redis_ping.h"

struct redis_command *readyz_line_begin(const struct services *services,
                                        const struct request *request, struct response *response,
                                        void **memory)
{
    (void)services;
    (void)response;
    (void)memory;
    return redis_ping_ask(request->arena);
}

void readyz_line_finish(const struct services *services, const struct request *request,
                        const redisReply *reply, void *memory, struct response *response)
{
    const struct ready_part redis = {"redis", redis_ping_answered(reply)};

    (void)services;
    (void)request;
    (void)memory;
    ready_parts_answer(response, &redis, 1);
}
