/*
 * redis_async_internal — shared by the files of redis_async and internal to them.
 *
 * Replies arrive while a pipeline is being read, when nothing may be sent: their handlers only
 * record what was learnt, and redis_async_turn() acts on it.
 */
#ifndef SLUICE_STORE_REDIS_ASYNC_INTERNAL_H
#define SLUICE_STORE_REDIS_ASYNC_INTERNAL_H

#include "lib/store/redis_async.h"
#include "lib/store/redis_servers.h"
#include "lib/store/redis_tenure.h"

enum {
    ASYNC_CHECK_MS = 1000,    /* interval of tenure checks */
    ASYNC_CLOSED_MS = 200,    /* likewise while the data may be incomplete */
    ASYNC_DISCOVERY_MS = 200, /* interval of queries to Sentinels, or for the slots */
    ASYNC_RETRY_MS = 10,      /* before the same command is sent again */
    ASYNC_TRIES_MAX = 64
};

/* Whether a server may be used. */
enum async_gate {
    GATE_UNKNOWN, /* a new connection: not checked */
    GATE_ASKED,   /* its tenure was requested */
    GATE_READ,    /* its tenure is known; whether that is recorded is to be requested */
    GATE_SOUGHT,  /* that was requested */
    GATE_OPEN,    /* its data are complete */
    GATE_CLOSED   /* they may not be, or it is no primary */
};

struct async_node {
    struct redis_async *async;
    struct redis_pipeline *pipeline;
    struct redis_server server;
    struct redis_tenure tenure;
    enum async_gate gate;
    bool was_open;      /* since it was connected: a repeated check does not delay commands */
    bool is_used;       /* since the last check */
    bool is_wrong;      /* no primary: the connection is useless */
    int64_t checked_ms; /* time of the last check */
};

/* A command that may have to be sent elsewhere, or later. */
struct async_call {
    struct redis_async *async;
    struct redis_command *command;
    redis_pipeline_done *done;
    void *context;
    struct async_node *node; /* where it was sent */
    bool unguarded;          /* one of the client's own */
    bool asking;
    int tries;
    int64_t due_ms;
    int64_t deadline_ms;
    struct async_call *next;
};

struct redis_async {
    struct redis_access access;
    int64_t timeout_ms;
    int epoll_fd;
    bool has_been_up;
    struct async_call *waiting; /* FIFO */
    struct async_call **last;
    size_t node_count;
    struct async_node nodes[REDIS_SERVERS_MAX]; /* only the first is used, except in a cluster */
    /* Sentinels */
    struct redis_pipeline *sentinel; /* the one being queried, else NULL */
    bool seek;                       /* the primary is to be requested */
    bool found;                      /* `primary` is new */
    bool sentinel_is_asked;
    bool sentinel_is_done; /* its connection is to be closed */
    size_t sentinel_turn;
    struct redis_server primary;
    /* cluster */
    struct redis_slots *slots;
    bool slots_are_old;
    bool slots_are_asked;
    size_t slots_turn;
    int64_t seek_at_ms; /* not before */
};

/** The node of a server, created if missing; NULL if there are too many. */
struct async_node *async_node_of(struct redis_async *async, const struct redis_server *server,
                                 int64_t now_ms);

/** Checks the node's tenure, as far as it is due. */
void async_node_turn(struct async_node *node, int64_t now_ms);

/** Milliseconds until the next check, INT64_MAX: never. */
int64_t async_node_next_turn(const struct async_node *node, int64_t now_ms);

/** Queries the primary, or the slots, if needed. */
void async_discovery_turn(struct redis_async *async, int64_t now_ms);

/** Milliseconds until the next query, INT64_MAX: never. */
int64_t async_discovery_next_turn(const struct redis_async *async, int64_t now_ms);

/** Sends one of the client's own commands to `node`, or by its key if that is NULL; its arena is
 *  freed after `done`. */
void async_send_internal(struct redis_async *async, struct async_node *node, struct arena *arena,
                         struct redis_command *command, redis_pipeline_done *done, void *context,
                         int64_t now_ms);

/** The same, over a connection that may have just been started. */
void async_send_over(struct redis_pipeline *pipeline, struct arena *arena,
                     struct redis_command *command, redis_pipeline_done *done, void *context,
                     int64_t now_ms);

#endif
