#include "lib/store/redis_subscription.h"

#include <poll.h>
#include <stdlib.h>

#include <hiredis/hiredis.h>

#include "lib/store/redis_access.h"
#include "lib/store/redis_reply.h"
#include "lib/store/redis_sentinel.h"

enum { RETRY_MS = 500, CONFIRM_MS = 2000, READS_MAX = 4096 };

struct redis_subscription {
    struct redis_access access;
    const char *channel;
    size_t turn;           /* index of the cluster node tried last */
    redisContext *context; /* NULL while not connected */
    bool has_unsent;       /* not connected yet */
    bool listens;          /* Redis has confirmed the subscription */
    int64_t asked_at_ms;   /* when this connection was started */
    int64_t retry_at_ms;
};

struct redis_subscription *redis_subscription_new(const struct settings *settings,
                                                  const char *channel)
{
    struct redis_subscription *subscription = calloc(1, sizeof(*subscription));

    if (subscription == NULL) {
        abort();
    }
    redis_access_init(&subscription->access, settings);
    subscription->channel = channel;
    return subscription;
}

static void disconnect(struct redis_subscription *subscription, int64_t now_ms)
{
    if (subscription->context != NULL) {
        redisFree(subscription->context);
        subscription->context = NULL;
    }
    subscription->listens = false;
    subscription->retry_at_ms = now_ms + RETRY_MS;
}

void redis_subscription_free(struct redis_subscription *subscription)
{
    if (subscription != NULL) {
        disconnect(subscription, 0);
        free(subscription);
    }
}

static bool find_server(struct redis_subscription *subscription, struct redis_server *server)
{
    struct redis_access *access = &subscription->access;
    char error[REDIS_ACCESS_ERROR];

    if (access->mode == REDIS_SENTINEL) {
        return redis_sentinel_find(access, server, error);
    }
    *server = access->server;
    if (access->mode == REDIS_CLUSTER) {
        server->endpoint = access->seeds[subscription->turn++ % access->seed_count];
    }
    return true;
}

static void reconnect(struct redis_subscription *subscription, int64_t now_ms)
{
    char error[REDIS_ACCESS_ERROR];
    struct redis_server server;
    int login = 0;

    subscription->asked_at_ms = now_ms;
    subscription->has_unsent = true;
    if (find_server(subscription, &server)) {
        subscription->context =
            redis_dial_begin(&subscription->access, &server, false, &login, error);
    }
    if (subscription->context == NULL || redisAppendCommand(subscription->context, "SUBSCRIBE %s",
                                                            subscription->channel) != REDIS_OK) {
        disconnect(subscription, now_ms);
    }
}

/* Sends unsent data, which the socket accepts as soon as it is connected. */
static void send_unsent(struct redis_subscription *subscription, int64_t now_ms)
{
    int written = 0;

    if (redisBufferWrite(subscription->context, &written) != REDIS_OK) {
        disconnect(subscription, now_ms);
        return;
    }
    subscription->has_unsent = written == 0;
}

static bool has_news(const struct redis_subscription *subscription)
{
    struct pollfd news = {.fd = subscription->context->fd, .events = POLLIN};

    return poll(&news, 1, 0) > 0;
}

/* False if the connection is unusable. */
static bool take_replies(struct redis_subscription *subscription, subscription_heard *heard,
                         void *context)
{
    void *taken = NULL;

    while (redisGetReplyFromReader(subscription->context, &taken) == REDIS_OK && taken != NULL) {
        redisReply *reply = taken;
        struct str kind = redis_reply_text(reply, 0);
        if (reply->type == REDIS_REPLY_ERROR) {
            freeReplyObject(reply);
            return false;
        }
        if (str_equal(kind, STR("subscribe"))) {
            subscription->listens = true;
            heard(context, SUBSCRIPTION_BEGUN, str_sized(NULL, 0));
        } else if (str_equal(kind, STR("message"))) {
            heard(context, SUBSCRIPTION_MESSAGE, redis_reply_text(reply, 2));
        }
        freeReplyObject(reply);
    }
    return subscription->context->err == 0;
}

bool redis_subscription_drain(struct redis_subscription *subscription, int64_t now_ms,
                              subscription_heard *heard, void *context)
{
    if (subscription->context == NULL) {
        if (now_ms < subscription->retry_at_ms) {
            return false;
        }
        reconnect(subscription, now_ms);
    }
    if (subscription->context != NULL && subscription->has_unsent) {
        send_unsent(subscription, now_ms);
    }
    for (int i = 0; i < READS_MAX && subscription->context != NULL && has_news(subscription); i++) {
        if (redisBufferRead(subscription->context) != REDIS_OK ||
            !take_replies(subscription, heard, context)) {
            disconnect(subscription, now_ms);
        }
    }
    if (subscription->context != NULL && !subscription->listens &&
        now_ms - subscription->asked_at_ms > CONFIRM_MS) {
        disconnect(subscription, now_ms);
    }
    return subscription->listens;
}
