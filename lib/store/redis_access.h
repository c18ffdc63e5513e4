/*
 * redis_access — how Redis is reached: what the settings say of it, and connections made by that.
 * Internal to lib/store.
 *
 * A server is a Unix socket or host:port. Which one is the primary is known (redis_socket,
 * redis_address), said by the Sentinels, or a matter of the key's slot (redis_cluster).
 */
#ifndef SLUICE_STORE_REDIS_ACCESS_H
#define SLUICE_STORE_REDIS_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

#include "lib/settings/endpoint.h"
#include "lib/settings/settings.h"

enum redis_mode {
    REDIS_ONE,      /* redis_socket or redis_address */
    REDIS_SENTINEL, /* the Sentinels say which */
    REDIS_CLUSTER   /* the slot says which */
};

struct redis_server {
    const char *socket; /* NULL: it is at the endpoint */
    struct endpoint endpoint;
};

struct redis_access {
    const struct settings *settings; /* borrowed */
    enum redis_mode mode;
    struct redis_server server;           /* REDIS_ONE: it */
    struct endpoint seeds[ENDPOINTS_MAX]; /* else: whom to ask; who answered last stands first */
    size_t seed_count;
};

enum { REDIS_ACCESS_ERROR = 256 };

/** Reads the settings, which must live on. */
void redis_access_init(struct redis_access *access, const struct settings *settings);

/** The seed that gave an answer is the first to be asked next time. */
void redis_access_prefer(struct redis_access *access, size_t seed);

/** True when both are the same server. */
bool redis_server_equal(const struct redis_server *a, const struct redis_server *b);

/** Its name for messages, "host:port" or the socket's path. */
const char *redis_server_name(const struct redis_server *server, char name[ENDPOINT_HOST + 16]);

/** Connects and, where a password is set, logs in, within `timeout_ms` each; `sentinel`: with
 *  the Sentinels' user. The context is the caller's to free. NULL, with a sentence, where that
 *  fails. */
redisContext *redis_dial(const struct redis_access *access, const struct redis_server *server,
                         bool sentinel, int64_t timeout_ms, char error[REDIS_ACCESS_ERROR]);

/** Begins a connection without waiting, with the login already in its output where a password is
 *  set: `*login` is the number of replies that belong to it, 0 or 1. NULL, with a sentence,
 *  where it cannot even begin. */
redisContext *redis_dial_begin(const struct redis_access *access, const struct redis_server *server,
                               bool sentinel, int *login, char error[REDIS_ACCESS_ERROR]);

#endif
