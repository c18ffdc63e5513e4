#include "lib/admission/goods/goods_finding.h"

#include "lib/store/redis_reply.h"

enum outcome sold_out_set(struct redis *redis, struct arena *arena, struct str queue,
                          const struct goods_finding *finding, int64_t *known)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_SOLD_OUT, queue);

    redis_command_add_int(command, finding->change);
    redis_command_add(command, finding->sold_out ? STR("1") : STR("0"));
    redis_command_add_int(command, finding->due_ms);
    redis_command_add(command, finding->with_events ? STR("1") : STR("0"));
    for (struct str rest = finding->coupons; rest.n > 0;) {
        struct str word;
        (void)str_split(rest, ' ', &word, &rest);
        redis_command_add(command, word);
    }
    const redisReply *reply = redis_call(redis, arena, command);
    enum outcome outcome = outcome_of(reply);
    if (known != NULL && outcome == OUTCOME_OLDER) {
        *known = redis_reply_int(reply, 1, 0);
    }
    return outcome;
}

int64_t goods_finding_due(struct redis *redis, struct arena *arena, struct str queue)
{
    struct redis_command *command = redis_command_new(arena, "HGET");
    int64_t due;

    redis_command_add(command, str_of(arena_format(arena, "sluice:{%.*s}:state", STR_ARG(queue))));
    redis_command_add(command, STR("soldOutDue"));
    const redisReply *reply = redis_call(redis, arena, command);
    if (reply == NULL || reply->type != REDIS_REPLY_STRING ||
        !str_to_int64(str_sized(reply->str, reply->len), 0, INT64_MAX, &due)) {
        return 0;
    }
    return due;
}
