#include "lib/store/redis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "lib/base/clock.h"
#include "lib/metrics/metrics.h"
#include "lib/store/redis_count.h"
#include "lib/store/redis_reply.h"

struct redis {
    const char *path;
    struct timeval timeout;
    redisContext *context; /* NULL while not connected */
    int64_t connection;    /* how many have ended */
    int64_t answered_ms;
    char error[256];
};

struct redis *redis_new(const char *path, int64_t timeout_ms)
{
    struct redis *redis = calloc(1, sizeof(*redis));

    if (redis == NULL) {
        abort();
    }
    redis->path = path;
    redis->timeout.tv_sec = (time_t)(timeout_ms / 1000);
    redis->timeout.tv_usec = (suseconds_t)(timeout_ms % 1000 * 1000);
    return redis;
}

static void disconnect(struct redis *redis)
{
    if (redis->context != NULL) {
        redisFree(redis->context);
        redis->context = NULL;
        redis->connection++;
        redis->answered_ms = 0;
    }
}

void redis_free(struct redis *redis)
{
    if (redis != NULL) {
        disconnect(redis);
        free(redis);
    }
}

static void remember_error(struct redis *redis, const char *why)
{
    (void)snprintf(redis->error, sizeof(redis->error), "%s", why);
}

static bool connect_if_needed(struct redis *redis)
{
    if (redis->context != NULL) {
        return true;
    }
    redis->context = redisConnectUnixWithTimeout(redis->path, redis->timeout);
    if (redis->context == NULL || redis->context->err != 0 ||
        redisSetTimeout(redis->context, redis->timeout) != REDIS_OK) {
        remember_error(redis, redis->context == NULL ? "out of memory" : redis->context->errstr);
        disconnect(redis);
        metrics_add(METRIC_REDIS_NOT_CONNECTED, 1);
        return false;
    }
    metrics_add(METRIC_REDIS_CONNECTED, 1);
    return true;
}

static redisReply *round_trip(struct redis *redis, const struct redis_command *command)
{
    if (!connect_if_needed(redis)) {
        redis_count(NULL, HISTOGRAM_REDIS_BLOCKING, 0);
        return NULL;
    }
    int64_t sent_us = clock_monotonic_us();
    redisReply *reply =
        redisCommandArgv(redis->context, command->count, command->words, command->lengths);
    redis_count(reply, HISTOGRAM_REDIS_BLOCKING, sent_us);
    if (reply == NULL) {
        /* A late answer must never be taken for that of the next command. */
        remember_error(redis, redis->context->errstr);
        disconnect(redis);
    } else {
        redis->answered_ms = sent_us / 1000;
    }
    return reply;
}

static void free_reply(void *reply)
{
    freeReplyObject(reply);
}

const redisReply *redis_call(struct redis *redis, struct arena *arena,
                             struct redis_command *command)
{
    bool was_connected = redis->context != NULL;
    redisReply *reply = round_trip(redis, command);

    /* A connection that went away while it was idle has carried nothing out: EPIPE on the first write. */
    if (reply == NULL && was_connected && strcmp(redis->error, "Broken pipe") == 0) {
        reply = round_trip(redis, command);
    }
    if (redis_reply_is_noscript(reply) && command->script != NULL) {
        freeReplyObject(reply);
        redis_command_send_text(command);
        reply = round_trip(redis, command);
    }
    if (reply == NULL) {
        return NULL;
    }
    arena_on_reset(arena, free_reply, reply);
    if (reply->type == REDIS_REPLY_ERROR) {
        remember_error(redis, reply->str);
        return NULL;
    }
    return reply;
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
