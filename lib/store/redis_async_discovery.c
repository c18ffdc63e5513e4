#include "lib/base/log.h"
#include "lib/store/redis_async_internal.h"
#include "lib/store/redis_sentinel.h"

static void on_primary(void *context, const redisReply *reply)
{
    struct redis_async *async = context;

    async->sentinel_is_asked = false;
    async->sentinel_is_done = true;
    if (redis_sentinel_read(reply, &async->primary)) {
        async->found = true;
    } else {
        async->sentinel_turn++;
    }
}

static void ask_sentinel(struct redis_async *async, int64_t now_ms)
{
    struct redis_server sentinel = {
        .endpoint = async->access.seeds[async->sentinel_turn % async->access.seed_count]};
    struct arena *arena = arena_new();

    async->sentinel =
        redis_pipeline_new(&(struct redis_pipeline_options){.access = &async->access,
                                                            .server = sentinel,
                                                            .sentinel = true,
                                                            .timeout_ms = REDIS_SENTINEL_TIMEOUT_MS,
                                                            .epoll_fd = async->epoll_fd},
                           now_ms);
    async->sentinel_is_asked = true;
    async_send_over(async->sentinel, arena, redis_sentinel_ask(arena, &async->access), on_primary,
                    async, now_ms);
}

/* Connects to the server that the Sentinel names; its own tenure says whether it is primary yet. */
static void use_primary(struct redis_async *async, int64_t now_ms)
{
    struct async_node *node = &async->nodes[0];

    async->found = false;
    if (async->node_count == 0) {
        (void)async_node_of(async, &async->primary, now_ms);
    } else if (!redis_server_equal(&node->server, &async->primary)) {
        node->server = async->primary;
        redis_pipeline_move(node->pipeline, &async->primary, now_ms);
    }
}

static void seek_primary(struct redis_async *async, int64_t now_ms)
{
    if (async->sentinel_is_done) {
        redis_pipeline_free(async->sentinel);
        async->sentinel = NULL;
        async->sentinel_is_done = false;
    }
    if (async->found) {
        use_primary(async, now_ms);
    }
    if (async->node_count > 0 && async->nodes[0].gate == GATE_OPEN) {
        async->seek = false;
    }
    if (async->seek && !async->sentinel_is_asked && now_ms >= async->seek_at_ms) {
        async->seek_at_ms = now_ms + ASYNC_DISCOVERY_MS;
        ask_sentinel(async, now_ms);
    }
}

static void on_slots(void *context, const redisReply *reply)
{
    struct async_node *node = context;
    struct redis_async *async = node->async;

    async->slots_are_asked = false;
    if (redis_slots_read(async->slots, reply, &node->server)) {
        async->slots_are_old = false;
    }
}

/* Tries the known nodes in turn, and then the seeds. */
static struct async_node *next_node(struct redis_async *async, int64_t now_ms)
{
    for (size_t i = 0; i < async->node_count; i++) {
        struct async_node *node = &async->nodes[async->slots_turn++ % async->node_count];
        if (!redis_pipeline_is_silent(node->pipeline)) {
            return node;
        }
    }
    const struct redis_server seed = {
        .endpoint = async->access.seeds[async->slots_turn++ % async->access.seed_count]};
    return async_node_of(async, &seed, now_ms);
}

static void seek_slots(struct redis_async *async, int64_t now_ms)
{
    if (!async->slots_are_old || async->slots_are_asked || now_ms < async->seek_at_ms) {
        return;
    }
    struct async_node *node = next_node(async, now_ms);
    async->seek_at_ms =
        now_ms + (redis_slots_complete(async->slots) ? ASYNC_DISCOVERY_MS : ASYNC_RETRY_MS);
    if (node == NULL) {
        return;
    }
    struct arena *arena = arena_new();
    struct redis_command *command = redis_command_new(arena, "CLUSTER");
    redis_command_add(command, STR("SLOTS"));
    async->slots_are_asked = true;
    async_send_over(node->pipeline, arena, command, on_slots, node, now_ms);
}

void async_discovery_turn(struct redis_async *async, int64_t now_ms)
{
    if (async->access.mode == REDIS_SENTINEL) {
        seek_primary(async, now_ms);
    } else if (async->access.mode == REDIS_CLUSTER) {
        seek_slots(async, now_ms);
    }
}

int64_t async_discovery_next_turn(const struct redis_async *async, int64_t now_ms)
{
    if (async->found || async->sentinel_is_done) {
        return 0;
    }
    bool due = async->access.mode == REDIS_SENTINEL
                   ? async->seek && !async->sentinel_is_asked
                   : async->slots_are_old && !async->slots_are_asked;
    if (!due || async->access.mode == REDIS_ONE) {
        return INT64_MAX;
    }
    return async->seek_at_ms > now_ms ? async->seek_at_ms - now_ms : 0;
}
