/*
 * redis_internal — shared by the files of the blocking client and internal to them.
 */
#ifndef SLUICE_STORE_REDIS_INTERNAL_H
#define SLUICE_STORE_REDIS_INTERNAL_H

#include "lib/store/redis.h"
#include "lib/store/redis_access.h"
#include "lib/store/redis_node.h"
#include "lib/store/redis_servers.h"

struct redis {
    struct redis_access access;
    struct redis_slots *slots; /* of a cluster, else NULL */
    int64_t timeout_ms;
    int64_t connection; /* how many connections have ended */
    int64_t answered_ms;
    bool guarded;
    bool slots_are_old;
    size_t node_count;
    struct redis_node nodes[REDIS_SERVERS_MAX]; /* one, or those of a cluster that were used */
    char error[REDIS_ACCESS_ERROR];
};

/** The node of a server; if there are too many, the last one is replaced. */
struct redis_node *redis_node_of(struct redis *redis, const struct redis_server *server);

/** The only node; with Sentinels, they are queried for each new connection. NULL if they name
 *  none. */
struct redis_node *redis_only_node(struct redis *redis);

/** Connects if needed. Counts connections that have ended, however that was noticed. */
bool redis_connect_node(struct redis *redis, struct redis_node *node);

/** Sends one command; the caller frees the reply. NULL if none came. */
redisReply *redis_ask_node(struct redis *redis, struct redis_node *node,
                           const struct redis_command *command, bool asking);

/** Refreshes the slot map of a cluster from a known node, else from a seed. */
bool redis_learn_slots(struct redis *redis);

#endif
