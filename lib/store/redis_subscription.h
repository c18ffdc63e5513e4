/*
 * redis_subscription — a subscription to one Pub/Sub channel over a connection of its own. It does
 * not block: messages that have arrived are taken on request, and a lost connection is reopened, at
 * most twice a second. The exception are the Sentinels, which must then be asked for the primary:
 * up to REDIS_SENTINEL_TIMEOUT_MS each.
 */
#ifndef SLUICE_STORE_REDIS_SUBSCRIPTION_H
#define SLUICE_STORE_REDIS_SUBSCRIPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/str.h"
#include "lib/settings/settings.h"

struct redis_subscription;

enum subscription_event {
    SUBSCRIPTION_BEGUN, /* subscribed from now on: earlier messages may have been missed; no text */
    SUBSCRIPTION_MESSAGE
};

/** Gets an event; `text` is borrowed for the call. */
typedef void subscription_heard(void *context, enum subscription_event event, struct str text);

/** Creates a subscription to `channel` at the Redis that `settings` name, both borrowed: at the
 *  primary, or at any node of a cluster, since nodes forward messages to each other. Never NULL;
 *  nothing is connected yet. */
struct redis_subscription *redis_subscription_new(const struct settings *settings,
                                                  const char *channel);

/** NULL is allowed. */
void redis_subscription_free(struct redis_subscription *subscription);

/** Takes all events that have arrived, in order, and connects if needed. Returns whether it is
 *  subscribed: false also while a new connection is being opened. `now_ms` is monotonic. */
bool redis_subscription_drain(struct redis_subscription *subscription, int64_t now_ms,
                              subscription_heard *heard, void *context);

#endif
