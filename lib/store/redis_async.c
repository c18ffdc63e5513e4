#include "lib/store/redis_async.h"

#include <stdlib.h>

#include "lib/base/clock.h"
#include "lib/store/redis_async_internal.h"
#include "lib/store/redis_metrics.h"

/* Appends a new or returned command to the waiting ones. */
static void enqueue(struct async_call *call)
{
    struct redis_async *async = call->async;

    call->next = NULL;
    *async->last = call;
    async->last = &call->next;
}

static void on_changed(void *context, bool connected)
{
    struct async_node *node = context;

    node->gate = GATE_UNKNOWN;
    node->was_open = false;
    node->checked_ms = 0;
    node->async->seek |= !connected && node->async->access.mode == REDIS_SENTINEL;
    node->async->slots_are_old |= !connected;
}

struct async_node *async_node_of(struct redis_async *async, const struct redis_server *server,
                                 int64_t now_ms)
{
    for (size_t i = 0; i < async->node_count; i++) {
        if (redis_server_equal(&async->nodes[i].server, server)) {
            return &async->nodes[i];
        }
    }
    if (async->node_count == REDIS_SERVERS_MAX) {
        return NULL;
    }
    struct async_node *node = &async->nodes[async->node_count++];
    *node = (struct async_node){.async = async, .server = *server};
    node->pipeline =
        redis_pipeline_new(&(struct redis_pipeline_options){.access = &async->access,
                                                            .server = *server,
                                                            .timeout_ms = async->timeout_ms,
                                                            .epoll_fd = async->epoll_fd,
                                                            .changed = on_changed,
                                                            .context = node},
                           now_ms);
    return node;
}

struct redis_async *redis_async_new(const struct settings *settings, int epoll_fd, int64_t now_ms)
{
    struct redis_async *async = calloc(1, sizeof(*async));

    if (async == NULL) {
        abort();
    }
    redis_access_init(&async->access, settings);
    async->timeout_ms = settings->redis_timeout_ms;
    async->epoll_fd = epoll_fd;
    async->last = &async->waiting;
    async->seek = async->access.mode == REDIS_SENTINEL;
    if (async->access.mode == REDIS_ONE) {
        (void)async_node_of(async, &async->access.server, now_ms);
    } else if (async->access.mode == REDIS_CLUSTER) {
        async->slots = calloc(1, sizeof(*async->slots));
        if (async->slots == NULL) {
            abort();
        }
        redis_slots_clear(async->slots);
        async->slots_are_old = true;
    }
    return async;
}

static void finish(struct async_call *call, const redisReply *reply)
{
    call->done(call->context, reply);
}

void redis_async_free(struct redis_async *async)
{
    if (async == NULL) {
        return;
    }
    redis_pipeline_free(async->sentinel);
    for (size_t i = 0; i < async->node_count; i++) {
        redis_pipeline_free(async->nodes[i].pipeline);
    }
    while (async->waiting != NULL) {
        struct async_call *call = async->waiting;
        async->waiting = call->next;
        finish(call, NULL);
    }
    free(async->slots);
    free(async);
}

static void retry_later(struct async_call *call, int64_t pause_ms)
{
    call->node = NULL;
    call->tries++;
    call->due_ms = clock_monotonic_ms() + pause_ms;
    enqueue(call);
}

static void note_moved(struct async_call *call, int slot, const struct redis_server *server)
{
    /* The server that redirects us may return as the primary of another tenure, over this very
     * connection. */
    call->node->gate = GATE_UNKNOWN;
    if (call->async->slots != NULL) {
        (void)redis_slots_note(call->async->slots, slot, server);
        call->async->slots_are_old = true;
    }
}

static void on_reply(void *context, const redisReply *reply)
{
    struct async_call *call = context;
    struct redis_async *async = call->async;
    bool again = async->slots != NULL && call->tries < ASYNC_TRIES_MAX;
    struct redis_server server;
    int slot;

    call->asking = false;
    switch (redis_redirect_of(reply, &call->node->server, &slot, &server)) {
    case REDIS_MOVED:
        note_moved(call, slot, &server);
        if (again) {
            retry_later(call, call->tries < 4 ? 0 : ASYNC_RETRY_MS);
            return;
        }
        break;
    case REDIS_ASK:
        if (again) {
            retry_later(call, call->tries < 4 ? 0 : ASYNC_RETRY_MS);
            call->node = async_node_of(async, &server, call->due_ms);
            call->asking = call->node != NULL;
            return;
        }
        break;
    case REDIS_AGAIN:
        async->slots_are_old = async->slots != NULL;
        if (async->slots != NULL) {
            retry_later(call, ASYNC_RETRY_MS);
            return;
        }
        break;
    case REDIS_NO_PRIMARY:
        call->node->gate = GATE_UNKNOWN;
        async->seek |= async->access.mode == REDIS_SENTINEL;
        async->slots_are_old = async->slots != NULL;
        break;
    case REDIS_STAYS:
        break;
    }
    finish(call, reply);
}

/* The node to send to; NULL: none yet. */
static struct async_node *node_for(struct async_call *call, int64_t now_ms)
{
    struct redis_async *async = call->async;

    if (call->node != NULL) {
        return call->node;
    }
    if (async->slots == NULL) {
        return async->node_count > 0 ? &async->nodes[0] : NULL;
    }
    struct str key = redis_command_key(call->command);
    int owner = async->slots->owner[key.n > 0 ? redis_slot_of(key) : 0];
    if (owner < 0) {
        async->slots_are_old = true;
        return NULL;
    }
    return async_node_of(async, &async->slots->servers[owner], now_ms);
}

/* Sends the call, ends it without a reply, or makes it wait. */
static void dispatch(struct async_call *call, int64_t now_ms)
{
    struct redis_async *async = call->async;

    if (now_ms >= call->deadline_ms) {
        redis_metrics_count(NULL, HISTOGRAM_REDIS_LINE, 0);
        finish(call, NULL);
        return;
    }
    struct async_node *node = call->due_ms <= now_ms ? node_for(call, now_ms) : NULL;
    if (node == NULL) {
        enqueue(call);
        return;
    }
    bool open = node->gate == GATE_OPEN || node->was_open || call->unguarded;
    bool silent = redis_pipeline_is_silent(node->pipeline);
    if (node->gate == GATE_CLOSED ? !call->unguarded : silent && async->has_been_up) {
        redis_metrics_count(NULL, HISTOGRAM_REDIS_LINE, 0);
        finish(call, NULL);
    } else if (!open || silent) {
        enqueue(call);
    } else {
        call->node = node;
        node->is_used = true;
        if (call->asking) {
            redis_pipeline_send_asking(node->pipeline, call->command, on_reply, call, now_ms);
        } else {
            redis_pipeline_send(node->pipeline, call->command, on_reply, call, now_ms);
        }
    }
}

static struct async_call *new_call(struct redis_async *async, struct redis_command *command,
                                   redis_pipeline_done *done, void *context, int64_t now_ms)
{
    struct async_call *call = arena_alloc(command->arena, sizeof(*call));

    *call = (struct async_call){.async = async,
                                .command = command,
                                .done = done,
                                .context = context,
                                .due_ms = now_ms,
                                .deadline_ms = now_ms + async->timeout_ms};
    return call;
}

void redis_async_send(struct redis_async *async, struct redis_command *command,
                      redis_pipeline_done *done, void *context, int64_t now_ms)
{
    struct async_node *only = &async->nodes[0];

    if (async->access.mode == REDIS_ONE && only->gate == GATE_OPEN) {
        only->is_used = true;
        redis_pipeline_send(only->pipeline, command, done, context, now_ms);
        return;
    }
    dispatch(new_call(async, command, done, context, now_ms), now_ms);
}

struct internal_call {
    struct arena *arena;
    redis_pipeline_done *done;
    void *context;
};

static void on_internal_reply(void *context, const redisReply *reply)
{
    struct internal_call *internal = context;
    struct arena *arena = internal->arena;

    internal->done(internal->context, reply);
    arena_free(arena);
}

static struct internal_call *new_internal_call(struct arena *arena, redis_pipeline_done *done,
                                               void *context)
{
    struct internal_call *internal = arena_alloc(arena, sizeof(*internal));

    *internal = (struct internal_call){.arena = arena, .done = done, .context = context};
    return internal;
}

void async_send_internal(struct redis_async *async, struct async_node *node, struct arena *arena,
                         struct redis_command *command, redis_pipeline_done *done, void *context,
                         int64_t now_ms)
{
    struct async_call *call = new_call(async, command, on_internal_reply,
                                       new_internal_call(arena, done, context), now_ms);

    call->node = node;
    call->unguarded = true;
    dispatch(call, now_ms);
}

void async_send_over(struct redis_pipeline *pipeline, struct arena *arena,
                     struct redis_command *command, redis_pipeline_done *done, void *context,
                     int64_t now_ms)
{
    redis_pipeline_send(pipeline, command, on_internal_reply,
                        new_internal_call(arena, done, context), now_ms);
}

bool redis_async_ready(struct redis_async *async, void *ptr, uint32_t events, int64_t now_ms)
{
    if (ptr == async->sentinel && ptr != NULL) {
        redis_pipeline_ready(async->sentinel, events, now_ms);
        return true;
    }
    for (size_t i = 0; i < async->node_count; i++) {
        if (ptr == async->nodes[i].pipeline) {
            redis_pipeline_ready(async->nodes[i].pipeline, events, now_ms);
            return true;
        }
    }
    return false;
}

static void send_waiting(struct redis_async *async, int64_t now_ms)
{
    struct async_call *call = async->waiting;

    async->waiting = NULL;
    async->last = &async->waiting;
    while (call != NULL) {
        struct async_call *next = call->next;
        dispatch(call, now_ms);
        call = next;
    }
}

void redis_async_turn(struct redis_async *async, int64_t now_ms)
{
    async_discovery_turn(async, now_ms);
    for (size_t i = 0; i < async->node_count; i++) {
        async_node_turn(&async->nodes[i], now_ms);
    }
    send_waiting(async, now_ms);
    for (size_t i = 0; i < async->node_count; i++) {
        redis_pipeline_turn(async->nodes[i].pipeline, now_ms);
    }
    if (async->sentinel != NULL) {
        redis_pipeline_turn(async->sentinel, now_ms);
    }
}

int64_t redis_async_late_ms(const struct redis_async *async, int64_t now_ms)
{
    int64_t latest = 0;

    for (size_t i = 0; i < async->node_count; i++) {
        int64_t late = redis_pipeline_late_ms(async->nodes[i].pipeline, now_ms);
        latest = late > latest ? late : latest;
    }
    return latest;
}

static int64_t earlier(int64_t a, int64_t b)
{
    if (b < 0) {
        return a;
    }
    return a < b ? a : b;
}

int64_t redis_async_next_turn(const struct redis_async *async, int64_t now_ms)
{
    int64_t next = async_discovery_next_turn(async, now_ms);

    for (size_t i = 0; i < async->node_count; i++) {
        next = earlier(next, redis_pipeline_next_turn(async->nodes[i].pipeline, now_ms));
        next = earlier(next, async_node_next_turn(&async->nodes[i], now_ms));
    }
    if (async->sentinel != NULL) {
        next = earlier(next, redis_pipeline_next_turn(async->sentinel, now_ms));
    }
    if (async->waiting != NULL) {
        next = earlier(next, ASYNC_RETRY_MS);
    }
    return next == INT64_MAX ? -1 : next;
}
