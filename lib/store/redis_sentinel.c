#include "lib/store/redis_sentinel.h"

#include <stdio.h>

#include "lib/store/redis_servers.h"

struct redis_command *redis_sentinel_ask(struct arena *arena, const struct redis_access *access)
{
    struct redis_command *command = redis_command_new(arena, "SENTINEL");

    redis_command_add(command, STR("get-master-addr-by-name"));
    redis_command_add(command, str_of(access->settings->redis_master_name));
    return command;
}

static bool ask_one(const struct redis_access *access, const struct redis_server *sentinel,
                    struct redis_server *server, char error[REDIS_ACCESS_ERROR])
{
    redisContext *context = redis_dial(access, sentinel, true, REDIS_SENTINEL_TIMEOUT_MS, error);

    if (context == NULL) {
        return false;
    }
    const char *words[] = {"SENTINEL", "get-master-addr-by-name",
                           access->settings->redis_master_name};
    redisReply *reply =
        redisCommandArgv(context, (int)(sizeof(words) / sizeof(words[0])), words, NULL);
    bool found = redis_sentinel_read(reply, server);
    if (!found) {
        (void)snprintf(error, REDIS_ACCESS_ERROR, "%s",
                       reply == NULL                      ? context->errstr
                       : reply->type == REDIS_REPLY_ERROR ? reply->str
                                                          : "the Sentinels know no such primary");
    }
    if (reply != NULL) {
        freeReplyObject(reply);
    }
    redisFree(context);
    return found;
}

bool redis_sentinel_find(struct redis_access *access, struct redis_server *server,
                         char error[REDIS_ACCESS_ERROR])
{
    for (size_t i = 0; i < access->seed_count; i++) {
        const struct redis_server sentinel = {.endpoint = access->seeds[i]};
        if (ask_one(access, &sentinel, server, error)) {
            redis_access_prefer(access, i);
            return true;
        }
    }
    return false;
}
