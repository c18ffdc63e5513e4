/*
 * redis_subscription — one Pub/Sub channel, listened to on a connection of its own. It never waits:
 * what has arrived is taken when asked for, and a lost connection is made anew, at most twice a
 * second. Only Sentinels, which have to be asked for the primary then, are waited for,
 * REDIS_SENTINEL_TIMEOUT_MS each.
 */
#ifndef SLUICE_STORE_REDIS_SUBSCRIPTION_H
#define SLUICE_STORE_REDIS_SUBSCRIPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/str.h"
#include "lib/settings/settings.h"

struct redis_subscription;

enum subscription_event {
    SUBSCRIPTION_BEGUN, /* listens from now on: whatever was said before may have been missed; no text */
    SUBSCRIPTION_MESSAGE
};

/** Gets what happened; `text` is borrowed for the call. */
typedef void subscription_heard(void *context, enum subscription_event event, struct str text);

/** A subscription to `channel` at the Redis that `settings` name, both borrowed: at the primary,
 *  or at any node of a cluster, for each passes messages on to all. Never NULL; nothing is
 *  connected yet. */
struct redis_subscription *redis_subscription_new(const struct settings *settings,
                                                  const char *channel);

/** NULL is allowed. */
void redis_subscription_free(struct redis_subscription *subscription);

/** Takes everything that has arrived, in order, and connects where needed. Returns whether it
 *  listens: false also while a new connection is on its way. `now_ms` is monotonic. */
bool redis_subscription_drain(struct redis_subscription *subscription, int64_t now_ms,
                              subscription_heard *heard, void *context);

#endif
