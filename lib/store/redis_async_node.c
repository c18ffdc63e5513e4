#include "lib/base/log.h"
#include "lib/store/redis_async_internal.h"

static void close_gate(struct async_node *node, const char *why)
{
    char name[ENDPOINT_HOST + 16];

    if (node->gate != GATE_CLOSED || node->was_open) {
        log_event(LOG_LEVEL_WARNING, "redis.closed",
                  LOG_FIELDS(LOG_TEXT("why", why),
                             LOG_TEXT("server", redis_server_name(&node->server, name))));
    }
    node->gate = GATE_CLOSED;
    node->was_open = false;
}

static void open_gate(struct async_node *node)
{
    node->gate = GATE_OPEN;
    node->was_open = true;
    node->async->has_been_up = true;
}

/* Ignores the reply if a new connection has reset the gate meanwhile. */
static void on_tenure(void *context, const redisReply *reply)
{
    struct async_node *node = context;

    if (node->gate != GATE_ASKED) {
        return;
    }
    if (!redis_tenure_read(reply, &node->tenure)) {
        close_gate(node,
                   reply != NULL && reply->type == REDIS_REPLY_ERROR ? reply->str : "no answer");
    } else if (!node->tenure.is_primary) {
        close_gate(node, "it is not the primary");
        node->is_wrong = true;
    } else {
        node->gate = GATE_READ;
    }
}

static void on_known(void *context, const redisReply *reply)
{
    struct async_node *node = context;

    if (node->gate != GATE_SOUGHT) {
        return;
    }
    if (redis_tenure_is_known(reply, &node->tenure)) {
        open_gate(node);
    } else {
        close_gate(node, "it has restarted; reconcile has not verified its data yet");
    }
}

/* When the next check is due; -1: it is under way, or not needed. */
static int64_t next_check_ms(const struct async_node *node)
{
    switch (node->gate) {
    case GATE_UNKNOWN:
    case GATE_READ:
        return 0;
    case GATE_ASKED:
    case GATE_SOUGHT:
        return -1;
    case GATE_CLOSED:
        return node->checked_ms + ASYNC_CLOSED_MS;
    case GATE_OPEN:
        return node->is_used ? node->checked_ms + ASYNC_CHECK_MS : -1;
    }
    return -1;
}

/* Sent to this very node, whatever the slots say. */
static void ask_tenure(struct async_node *node, int64_t now_ms)
{
    struct arena *arena = arena_new();

    node->gate = GATE_ASKED;
    node->checked_ms = now_ms;
    node->is_used = false;
    async_send_internal(node->async, node, arena, redis_tenure_ask(arena), on_tenure, node, now_ms);
}

static void ask_known(struct async_node *node, int64_t now_ms)
{
    struct arena *arena = arena_new();

    node->gate = GATE_SOUGHT;
    async_send_internal(node->async, NULL, arena, redis_tenure_known(arena, &node->tenure),
                        on_known, node, now_ms);
}

void async_node_turn(struct async_node *node, int64_t now_ms)
{
    struct redis_async *async = node->async;

    if (node->is_wrong) {
        node->is_wrong = false;
        async->seek |= async->access.mode == REDIS_SENTINEL;
        async->slots_are_old = async->slots != NULL;
        if (async->slots == NULL) {
            /* Another server may have this address next time. */
            redis_pipeline_drop(node->pipeline, "it is not the primary", now_ms);
        }
        return;
    }
    int64_t at_ms =
        redis_pipeline_is_silent(node->pipeline) && async->has_been_up && node->gate != GATE_UNKNOWN
            ? -1
            : next_check_ms(node);
    if (!redis_pipeline_is_up(node->pipeline) || at_ms < 0 || at_ms > now_ms) {
        return;
    }
    if (node->gate == GATE_READ) {
        ask_known(node, now_ms);
    } else {
        ask_tenure(node, now_ms);
    }
}

int64_t async_node_next_turn(const struct async_node *node, int64_t now_ms)
{
    if (node->is_wrong) {
        return 0;
    }
    /* An open node is checked when it is used. */
    int64_t at_ms =
        node->gate == GATE_OPEN || !redis_pipeline_is_up(node->pipeline) ? -1 : next_check_ms(node);
    if (at_ms < 0) {
        return INT64_MAX;
    }
    return at_ms > now_ms ? at_ms - now_ms : 0;
}
