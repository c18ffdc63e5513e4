/*
 * redis_access — where Redis is, according to the settings, and connecting to it. Internal to
 * lib/store.
 *
 * A server is a Unix socket or host:port. The primary is fixed (redis_socket, redis_address), named
 * by the Sentinels, or depends on the key's slot (redis_cluster).
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
    REDIS_SENTINEL, /* the Sentinels name it */
    REDIS_CLUSTER   /* it depends on the slot */
};

struct redis_server {
    const char *socket; /* NULL: use the endpoint */
    struct endpoint endpoint;
};

struct redis_access {
    const struct settings *settings; /* borrowed */
    enum redis_mode mode;
    struct redis_server server;           /* of REDIS_ONE */
    struct endpoint seeds[ENDPOINTS_MAX]; /* else: servers to query; the last to answer first */
    size_t seed_count;
};

enum { REDIS_ACCESS_ERROR = 256 };

/** Reads the settings, which are borrowed. */
void redis_access_init(struct redis_access *access, const struct settings *settings);

/** Moves a seed that has answered to the front of the list. */
void redis_access_prefer(struct redis_access *access, size_t seed);

/** True when both are the same server. */
bool redis_server_equal(const struct redis_server *a, const struct redis_server *b);

/** The server's name for messages: "host:port" or the socket's path. */
const char *redis_server_name(const struct redis_server *server, char name[ENDPOINT_HOST + 16]);

/** Connects and, if a password is set, authenticates, within `timeout_ms` each; `sentinel`: as
 *  the Sentinels' user. The caller frees the context. NULL, with one sentence in `error`, if
 *  that fails. */
redisContext *redis_dial(const struct redis_access *access, const struct redis_server *server,
                         bool sentinel, int64_t timeout_ms, char error[REDIS_ACCESS_ERROR]);

/** Starts a connection without blocking, with the authentication already in its output buffer if
 *  a password is set: `*login` is the number of replies to it, 0 or 1. NULL, with one sentence in
 *  `error`, if it cannot be started. */
redisContext *redis_dial_begin(const struct redis_access *access, const struct redis_server *server,
                               bool sentinel, int *login, char error[REDIS_ACCESS_ERROR]);

#endif
