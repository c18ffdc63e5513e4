#include "lib/store/redis_primary.h"

#include "lib/store/redis_internal.h"
#include "lib/store/redis_reply.h"
#include "lib/store/redis_tenure.h"

/* Queries one primary and its tenure. */
static bool query_primary(struct redis *redis, struct arena *arena, struct redis_node *node,
                          struct redis_tenure *tenure, struct redis_primary *primary)
{
    char name[ENDPOINT_HOST + 16];

    if (node == NULL || !redis_connect_node(redis, node)) {
        return false;
    }
    redisReply *reply = redis_ask_node(redis, node, redis_tenure_ask(arena), false);
    bool read = redis_tenure_read(reply, tenure) && tenure->is_primary;
    if (reply != NULL) {
        freeReplyObject(reply);
    }
    primary->name = str_of(arena_copy(arena, str_of(redis_server_name(&node->server, name))));
    primary->run = str_of(arena_copy(arena, str_of(tenure->run)));
    primary->id = str_of(arena_copy(arena, str_of(tenure->id)));
    if (!read && redis->slots == NULL) {
        /* Another server may be the primary by now. */
        (void)redis_node_close(node);
    }
    return read;
}

static bool query_primaries(struct redis *redis, struct arena *arena, struct redis_tenure *tenures,
                            struct redis_primaries *primaries)
{
    if (redis->slots == NULL) {
        primaries->count = 1;
        return query_primary(redis, arena, redis_only_node(redis), tenures, primaries->all);
    }
    if (!redis_learn_slots(redis) || !redis_slots_complete(redis->slots)) {
        return false;
    }
    for (size_t i = 0; i < redis->slots->count; i++) {
        struct redis_server server = redis->slots->servers[i];
        if (!query_primary(redis, arena, redis_node_of(redis, &server), &tenures[i],
                           &primaries->all[i])) {
            return false;
        }
    }
    primaries->count = redis->slots->count;
    return true;
}

static const redisReply *read_known(struct redis *redis, struct arena *arena)
{
    struct redis_command *command = redis_command_new(arena, "HGETALL");

    redis_command_add(command, STR(REDIS_TENURES));
    const redisReply *reply = redis_call(redis, arena, command);
    return reply != NULL && reply->type == REDIS_REPLY_ARRAY ? reply : NULL;
}

bool redis_primaries_look(struct redis *redis, struct arena *arena,
                          struct redis_primaries *primaries)
{
    struct redis_tenure *tenures = arena_alloc(arena, REDIS_SERVERS_MAX * sizeof(*tenures));
    size_t lines = 0;
    size_t whole = 0;

    *primaries = (struct redis_primaries){
        .all = arena_alloc(arena, REDIS_SERVERS_MAX * sizeof(*primaries->all))};
    if (!query_primaries(redis, arena, tenures, primaries)) {
        return false;
    }
    const redisReply *known = read_known(redis, arena);
    if (known == NULL) {
        return false;
    }
    for (size_t at = 0; at + 1 < known->elements; at += 2) {
        struct str run = redis_reply_text(known, at);
        lines += run.n == REDIS_RUN_TEXT ? 1 : 0;
        for (size_t i = 0; i < primaries->count; i++) {
            struct redis_primary *primary = &primaries->all[i];
            if (!primary->is_whole && str_equal(primary->run, run) &&
                redis_tenure_is(&tenures[i], redis_reply_text(known, at + 1))) {
                primary->is_whole = true;
                whole++;
            }
        }
    }
    primaries->nothing_known = known->elements == 0;
    primaries->none_ended = whole == lines;
    primaries->is_current =
        !primaries->nothing_known && whole == lines && whole == primaries->count;
    return true;
}

bool redis_primaries_doubt(struct redis *redis, const struct redis_primaries *primaries,
                           struct arena *arena, struct str queue)
{
    if (redis->slots == NULL) {
        return !primaries->all[0].is_whole;
    }
    struct str key = str_of(arena_format(arena, "sluice:{%.*s}:settings", STR_ARG(queue)));
    int owner = redis->slots->owner[redis_slot_of(key)];
    /* The slots may have moved since: if unsure, recover: a superfluous recovery is
     * harmless. */
    return owner < 0 || (size_t)owner >= primaries->count || !primaries->all[owner].is_whole;
}

bool redis_primaries_write(struct redis *redis, struct arena *arena,
                           const struct redis_primaries *primaries)
{
    struct redis_command *command =
        redis_command_script(arena, SCRIPT_TENURES_WRITE, str_sized(NULL, 0));

    for (size_t i = 0; i < primaries->count; i++) {
        redis_command_add(command, primaries->all[i].run);
        redis_command_add(command, primaries->all[i].id);
    }
    return redis_call(redis, arena, command) != NULL;
}

bool redis_memory_look(struct redis *redis, struct arena *arena, struct redis_memory *memory)
{
    struct redis_command *command = redis_command_new(arena, "HMGET");

    redis_command_add(command, STR(REDIS_TENURES));
    redis_command_add(command, STR("since"));
    redis_command_add(command, STR("complete"));
    const redisReply *reply = redis_call(redis, arena, command);
    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY) {
        return false;
    }
    memory->since = str_of(arena_copy(arena, redis_reply_text(reply, 0)));
    memory->is_complete = redis_reply_text(reply, 1).n > 0;
    return true;
}

bool redis_memory_complete(struct redis *redis, struct arena *arena,
                           const struct redis_memory *memory)
{
    struct redis_command *command =
        redis_command_script(arena, SCRIPT_TENURES_COMPLETE, str_sized(NULL, 0));

    redis_command_add(command, memory->since);
    return redis_call(redis, arena, command) != NULL;
}

bool redis_primaries_begin(struct redis *redis, struct arena *arena)
{
    struct redis_command *command = redis_command_new(arena, "HLEN");
    struct redis_primaries primaries;

    redis_command_add(command, STR(REDIS_TENURES));
    const redisReply *reply = redis_call(redis, arena, command);
    if (reply == NULL || reply->type != REDIS_REPLY_INTEGER || reply->integer > 0) {
        return reply != NULL && reply->type == REDIS_REPLY_INTEGER;
    }
    return redis_primaries_look(redis, arena, &primaries) &&
           (!primaries.nothing_known || redis_primaries_write(redis, arena, &primaries));
}
