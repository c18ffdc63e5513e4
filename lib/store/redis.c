#include "lib/store/redis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/metrics/metrics.h"
#include "lib/store/redis_access.h"
#include "lib/store/redis_internal.h"
#include "lib/store/redis_metrics.h"
#include "lib/store/redis_node.h"
#include "lib/store/redis_reply.h"
#include "lib/store/redis_sentinel.h"
#include "lib/store/redis_servers.h"

enum {
    TRIES_MAX = 64,
    REDIRECTS_MAX = 16, /* consecutive ones without a pause: slots do not move that fast */
    PAUSE_MS = 10,      /* before a command is repeated */
    CHECK_MS = 1000     /* how old the check of a server's tenure may be */
};

static struct redis *new_client(const struct settings *settings, int64_t timeout_ms, bool guarded)
{
    struct redis *redis = calloc(1, sizeof(*redis));

    if (redis == NULL) {
        abort();
    }
    redis_access_init(&redis->access, settings);
    redis->timeout_ms = timeout_ms;
    redis->guarded = guarded;
    if (redis->access.mode == REDIS_CLUSTER) {
        redis->slots = calloc(1, sizeof(*redis->slots));
        if (redis->slots == NULL) {
            abort();
        }
        redis_slots_clear(redis->slots);
        redis->slots_are_old = true;
    } else {
        redis->node_count = 1;
        redis->nodes[0].server = redis->access.server;
    }
    return redis;
}

struct redis *redis_new(const struct settings *settings, int64_t timeout_ms)
{
    return new_client(settings, timeout_ms, true);
}

struct redis *redis_new_unguarded(const struct settings *settings, int64_t timeout_ms)
{
    return new_client(settings, timeout_ms, false);
}

static void disconnect(struct redis *redis, struct redis_node *node)
{
    if (redis_node_close(node)) {
        redis->connection++;
        redis->answered_ms = 0;
    }
}

void redis_free(struct redis *redis)
{
    if (redis != NULL) {
        for (size_t i = 0; i < redis->node_count; i++) {
            disconnect(redis, &redis->nodes[i]);
        }
        free(redis->slots);
        free(redis);
    }
}

static void remember_error(struct redis *redis, const char *why)
{
    (void)snprintf(redis->error, sizeof(redis->error), "%s", why);
}

struct redis_node *redis_node_of(struct redis *redis, const struct redis_server *server)
{
    for (size_t i = 0; i < redis->node_count; i++) {
        if (redis_server_equal(&redis->nodes[i].server, server)) {
            return &redis->nodes[i];
        }
    }
    if (redis->node_count == REDIS_SERVERS_MAX) {
        disconnect(redis, &redis->nodes[--redis->node_count]);
    }
    struct redis_node *node = &redis->nodes[redis->node_count++];
    *node = (struct redis_node){.server = *server};
    return node;
}

bool redis_connect_node(struct redis *redis, struct redis_node *node)
{
    bool was_connected = node->context != NULL;
    redisContext *before = node->context;
    bool connected = redis_node_connect(node, &redis->access, redis->timeout_ms, redis->error);

    if (was_connected && node->context != before) {
        redis->connection++;
        redis->answered_ms = 0;
    }
    return connected;
}

redisReply *redis_ask_node(struct redis *redis, struct redis_node *node,
                           const struct redis_command *command, bool asking)
{
    redisReply *reply = redis_node_ask(node, command, asking, redis->error);

    if (reply == NULL) {
        redis->connection++;
        redis->answered_ms = 0;
    }
    return reply;
}

/* Queries one node of the cluster for the slots. */
static bool ask_for_slots(struct redis *redis, const struct redis_server *server)
{
    struct redis_node *node = redis_node_of(redis, server);
    bool read = false;

    if (redis_connect_node(redis, node)) {
        struct arena *arena = arena_new();
        struct redis_command *command = redis_command_new(arena, "CLUSTER");
        redis_command_add(command, STR("SLOTS"));
        redisReply *reply = redis_ask_node(redis, node, command, false);
        read = redis_slots_read(redis->slots, reply, server);
        if (reply != NULL) {
            freeReplyObject(reply);
        }
        arena_free(arena);
    }
    return read;
}

bool redis_learn_slots(struct redis *redis)
{
    for (size_t i = 0; i < redis->slots->count; i++) {
        struct redis_server server = redis->slots->servers[i];
        if (ask_for_slots(redis, &server)) {
            redis->slots_are_old = false;
            return true;
        }
    }
    for (size_t i = 0; i < redis->access.seed_count; i++) {
        const struct redis_server seed = {.endpoint = redis->access.seeds[i]};
        if (ask_for_slots(redis, &seed)) {
            redis_access_prefer(&redis->access, i);
            redis->slots_are_old = false;
            return true;
        }
    }
    return false;
}

static struct redis_node *cluster_node(struct redis *redis, struct str key)
{
    int slot = key.n > 0 ? redis_slot_of(key) : 0;

    if (redis->slots_are_old && !redis_learn_slots(redis)) {
        return NULL;
    }
    int owner = redis->slots->owner[slot];
    if (owner < 0) {
        remember_error(redis, "no node of the cluster serves this slot");
        redis->slots_are_old = true;
        return NULL;
    }
    return redis_node_of(redis, &redis->slots->servers[owner]);
}

struct redis_node *redis_only_node(struct redis *redis)
{
    struct redis_node *node = &redis->nodes[0];

    if (redis->access.mode == REDIS_SENTINEL && redis_node_has_ended(node)) {
        disconnect(redis, node);
    }
    if (redis->access.mode == REDIS_SENTINEL && node->context == NULL &&
        !redis_sentinel_find(&redis->access, &node->server, redis->error)) {
        return NULL;
    }
    return node;
}

static const redisReply *answer(struct redis *redis, struct arena *arena,
                                struct redis_command *command, bool guarded);

static void free_reply(void *reply)
{
    freeReplyObject(reply);
}

/* Whether the node is a primary and, if `guarded`, its data are known to be complete. */
static bool is_fit(struct redis *redis, struct redis_node *node, bool guarded)
{
    int64_t now = clock_monotonic_ms();

    if (node->checked_ms != 0 && now - node->checked_ms < CHECK_MS) {
        return true;
    }
    if (!guarded && redis->access.mode == REDIS_ONE) {
        return true;
    }
    struct arena *arena = arena_new();
    redisReply *reply = redis_ask_node(redis, node, redis_tenure_ask(arena), false);
    bool fit = redis_tenure_read(reply, &node->tenure);
    if (reply != NULL && !fit) {
        remember_error(redis, reply->type == REDIS_REPLY_ERROR ? reply->str : "not a Redis");
    }
    free_reply(reply);
    if (fit && !node->tenure.is_primary) {
        remember_error(redis, "this Redis is not the primary");
        disconnect(redis, node);
        fit = false;
    } else if (fit && guarded) {
        struct redis_tenure tenure = node->tenure;
        fit = redis_tenure_is_known(answer(redis, arena, redis_tenure_known(arena, &tenure), false),
                                    &tenure);
        if (!fit) {
            remember_error(redis, "Redis has restarted; reconcile has not verified its data yet");
        }
    }
    /* The check may have used another connection. */
    if (fit && node->context != NULL && guarded == redis->guarded) {
        node->checked_ms = now;
    }
    arena_free(arena);
    return fit && node->context != NULL;
}

static redisReply *round_trip(struct redis *redis, struct redis_node *node,
                              struct redis_command *command, bool asking, bool guarded)
{
    if (node == NULL || !redis_connect_node(redis, node) || !is_fit(redis, node, guarded)) {
        redis_metrics_count(NULL, HISTOGRAM_REDIS_BLOCKING, 0);
        return NULL;
    }
    int64_t sent_us = clock_monotonic_us();
    redisReply *reply = redis_ask_node(redis, node, command, asking);
    redis_metrics_count(reply, HISTOGRAM_REDIS_BLOCKING, sent_us);
    if (redis_reply_is_noscript(reply) && command->script != NULL) {
        freeReplyObject(reply);
        redis_command_send_text(command);
        reply = redis_ask_node(redis, node, command, asking);
        redis_metrics_count(reply, HISTOGRAM_REDIS_BLOCKING, sent_us);
    }
    if (reply != NULL) {
        redis->answered_ms = sent_us / 1000;
    }
    return reply;
}

static void pause_briefly(void)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};

    (void)nanosleep(&pause, NULL);
}

/* Applies a redirection to the next attempt: the node, and whether with ASKING. False: the reply is
 * final. */
static bool follow(struct redis *redis, const redisReply *reply, struct redis_node **node,
                   bool *asking)
{
    struct redis_server server;
    int slot;

    *asking = false;
    switch (redis_redirect_of(reply, &(*node)->server, &slot, &server)) {
    case REDIS_MOVED:
        if (redis->slots == NULL) {
            return false;
        }
        (void)redis_slots_note(redis->slots, slot, &server);
        redis->slots_are_old = true;
        (*node)->checked_ms = 0;
        *node = NULL;
        return true;
    case REDIS_ASK:
        if (redis->slots == NULL) {
            return false;
        }
        *node = redis_node_of(redis, &server);
        *asking = true;
        return true;
    case REDIS_AGAIN:
        pause_briefly();
        redis->slots_are_old = redis->slots != NULL;
        *node = NULL;
        return redis->slots != NULL;
    case REDIS_NO_PRIMARY:
        /* The command was not executed; the next call looks for the primary. */
        redis->slots_are_old = redis->slots != NULL;
        remember_error(redis, reply->str);
        disconnect(redis, *node);
        return false;
    case REDIS_STAYS:
        return false;
    }
    abort();
}

static const redisReply *answer(struct redis *redis, struct arena *arena,
                                struct redis_command *command, bool guarded)
{
    int64_t deadline = clock_monotonic_ms() + redis->timeout_ms;
    struct redis_node *node = NULL;
    redisReply *reply = NULL;
    bool asking = false;

    for (int tries = 0; tries < TRIES_MAX; tries++) {
        if (node == NULL) {
            node = redis->slots == NULL ? redis_only_node(redis)
                                        : cluster_node(redis, redis_command_key(command));
        }
        reply = round_trip(redis, node, command, asking, guarded);
        if (reply == NULL) {
            redis->slots_are_old = redis->slots != NULL;
            return NULL;
        }
        if (!follow(redis, reply, &node, &asking) || clock_monotonic_ms() >= deadline) {
            break;
        }
        freeReplyObject(reply);
        reply = NULL;
        if (tries >= REDIRECTS_MAX) {
            pause_briefly();
        }
    }
    if (reply == NULL) {
        remember_error(redis, "the cluster's nodes send us from one to the other");
        return NULL;
    }
    arena_on_reset(arena, free_reply, reply);
    if (reply->type == REDIS_REPLY_ERROR) {
        remember_error(redis, reply->str);
        return NULL;
    }
    return reply;
}

const redisReply *redis_call(struct redis *redis, struct arena *arena,
                             struct redis_command *command)
{
    return answer(redis, arena, command, redis->guarded);
}

int64_t redis_connection(const struct redis *redis)
{
    return redis->connection;
}

int64_t redis_answered_ms(const struct redis *redis)
{
    return redis->answered_ms;
}

const char *redis_error(const struct redis *redis)
{
    return redis->error;
}
