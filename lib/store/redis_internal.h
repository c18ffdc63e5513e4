/*
 * redis_internal — what the files of the blocking client share. Internal to them.
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
    int64_t connection; /* how many have ended */
    int64_t answered_ms;
    bool guarded;
    bool slots_are_old;
    size_t node_count;
    struct redis_node nodes[REDIS_SERVERS_MAX]; /* the one, or those of a cluster that were asked */
    char error[REDIS_ACCESS_ERROR];
};

/** The node of a server; where there are too many, the last one is given up. */
struct redis_node *redis_node_of(struct redis *redis, const struct redis_server *server);

/** The one server there is; which one it is the Sentinels say, anew for each connection. NULL
 *  where they do not. */
struct redis_node *redis_only_node(struct redis *redis);

/** Connects where needed. An ended connection counts, whoever found it out. */
bool redis_connect_node(struct redis *redis, struct redis_node *node);

/** One command and its reply, which is the caller's to free; NULL where none came. */
redisReply *redis_ask_node(struct redis *redis, struct redis_node *node,
                           const struct redis_command *command, bool asking);

/** Brings the map of a cluster up to date: asks a node that is known, else a seed. */
bool redis_learn_slots(struct redis *redis);

#endif
