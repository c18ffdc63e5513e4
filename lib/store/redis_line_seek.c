#include "lib/base/log.h"
#include "lib/store/redis_line_parts.h"
#include "lib/store/redis_sentinel.h"

static void on_primary(void *context, const redisReply *reply)
{
    struct redis_line *line = context;

    line->sentinel_is_asked = false;
    line->sentinel_is_done = true;
    if (redis_sentinel_read(reply, &line->primary)) {
        line->found = true;
    } else {
        line->sentinel_turn++;
    }
}

static void ask_sentinel(struct redis_line *line, int64_t now_ms)
{
    struct redis_server sentinel = {
        .endpoint = line->access.seeds[line->sentinel_turn % line->access.seed_count]};
    struct arena *arena = arena_new();

    line->sentinel =
        redis_pipeline_new(&(struct redis_pipeline_options){.access = &line->access,
                                                            .server = sentinel,
                                                            .sentinel = true,
                                                            .timeout_ms = REDIS_SENTINEL_TIMEOUT_MS,
                                                            .epoll_fd = line->epoll_fd},
                           now_ms);
    line->sentinel_is_asked = true;
    line_ask_pipeline(line->sentinel, arena, redis_sentinel_ask(arena, &line->access), on_primary,
                      line, now_ms);
}

/* The primary is where the Sentinel says; whether it is one yet, its own tenure says. */
static void go_there(struct redis_line *line, int64_t now_ms)
{
    struct line_node *node = &line->nodes[0];

    line->found = false;
    if (line->node_count == 0) {
        (void)line_node_of(line, &line->primary, now_ms);
    } else if (!redis_server_equal(&node->server, &line->primary)) {
        node->server = line->primary;
        redis_pipeline_move(node->pipeline, &line->primary, now_ms);
    }
}

static void seek_primary(struct redis_line *line, int64_t now_ms)
{
    if (line->sentinel_is_done) {
        redis_pipeline_free(line->sentinel);
        line->sentinel = NULL;
        line->sentinel_is_done = false;
    }
    if (line->found) {
        go_there(line, now_ms);
    }
    if (line->node_count > 0 && line->nodes[0].gate == GATE_OPEN) {
        line->seek = false;
    }
    if (line->seek && !line->sentinel_is_asked && now_ms >= line->seek_at_ms) {
        line->seek_at_ms = now_ms + LINE_SEEK_MS;
        ask_sentinel(line, now_ms);
    }
}

static void on_slots(void *context, const redisReply *reply)
{
    struct line_node *node = context;
    struct redis_line *line = node->line;

    line->slots_are_asked = false;
    if (redis_slots_read(line->slots, reply, &node->server)) {
        line->slots_are_old = false;
    }
}

/* Asks those that are known in turn, and then the seeds. */
static struct line_node *whom_to_ask(struct redis_line *line, int64_t now_ms)
{
    for (size_t i = 0; i < line->node_count; i++) {
        struct line_node *node = &line->nodes[line->slots_turn++ % line->node_count];
        if (!redis_pipeline_is_silent(node->pipeline)) {
            return node;
        }
    }
    const struct redis_server seed = {
        .endpoint = line->access.seeds[line->slots_turn++ % line->access.seed_count]};
    return line_node_of(line, &seed, now_ms);
}

static void seek_slots(struct redis_line *line, int64_t now_ms)
{
    if (!line->slots_are_old || line->slots_are_asked || now_ms < line->seek_at_ms) {
        return;
    }
    struct line_node *node = whom_to_ask(line, now_ms);
    line->seek_at_ms = now_ms + (redis_slots_complete(line->slots) ? LINE_SEEK_MS : LINE_AGAIN_MS);
    if (node == NULL) {
        return;
    }
    struct arena *arena = arena_new();
    struct redis_command *command = redis_command_new(arena, "CLUSTER");
    redis_command_add(command, STR("SLOTS"));
    line->slots_are_asked = true;
    line_ask_pipeline(node->pipeline, arena, command, on_slots, node, now_ms);
}

void line_seek_turn(struct redis_line *line, int64_t now_ms)
{
    if (line->access.mode == REDIS_SENTINEL) {
        seek_primary(line, now_ms);
    } else if (line->access.mode == REDIS_CLUSTER) {
        seek_slots(line, now_ms);
    }
}

int64_t line_seek_next_turn(const struct redis_line *line, int64_t now_ms)
{
    if (line->found || line->sentinel_is_done) {
        return 0;
    }
    bool due = line->access.mode == REDIS_SENTINEL ? line->seek && !line->sentinel_is_asked
                                                   : line->slots_are_old && !line->slots_are_asked;
    if (!due || line->access.mode == REDIS_ONE) {
        return INT64_MAX;
    }
    return line->seek_at_ms > now_ms ? line->seek_at_ms - now_ms : 0;
}
