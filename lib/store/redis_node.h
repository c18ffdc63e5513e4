/*
 * redis_node — one server, and the blocking client's connection to it. Internal to lib/store.
 */
#ifndef SLUICE_STORE_REDIS_NODE_H
#define SLUICE_STORE_REDIS_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/store/redis_access.h"
#include "lib/store/redis_command.h"
#include "lib/store/redis_tenure.h"

struct redis_node {
    struct redis_server server;
    redisContext *context; /* NULL while not connected */
    struct redis_tenure tenure;
    /* When the tenure was last checked and found good; 0: it must be checked first. */
    int64_t checked_ms;
};

/** Connects if needed; an idle connection that the server has closed is replaced. */
bool redis_node_connect(struct redis_node *node, const struct redis_access *access,
                        int64_t timeout_ms, char error[REDIS_ACCESS_ERROR]);

/** True when the server has closed the connection; false also if there is none. */
bool redis_node_has_ended(const struct redis_node *node);

/** Closes the connection, if any. Returns whether there was one. */
bool redis_node_close(struct redis_node *node);

/** Sends one command, with `asking` after an ASKING; the caller frees the reply. NULL, with one
 *  sentence in `error` and the connection closed, if none came in time: a late reply must never
 *  be taken for that of the next command. */
redisReply *redis_node_ask(struct redis_node *node, const struct redis_command *command,
                           bool asking, char error[REDIS_ACCESS_ERROR]);

#endif
