/*
 * redis_async_internal — what the files of redis_async share. Internal to them.
 *
 * Replies come in the middle of a pipeline's reading, when nothing may be sent: they only note what
 * was learnt, and redis_async_turn() acts on it.
 */
#ifndef SLUICE_STORE_REDIS_ASYNC_INTERNAL_H
#define SLUICE_STORE_REDIS_ASYNC_INTERNAL_H

#include "lib/store/redis_async.h"
#include "lib/store/redis_servers.h"
#include "lib/store/redis_tenure.h"

enum {
    ASYNC_CHECK_MS = 1000,    /* how old the look at a server's tenure may be */
    ASYNC_CLOSED_MS = 200,    /* between two looks at one whose data may not be whole */
    ASYNC_DISCOVERY_MS = 200, /* between two questions to Sentinels, or for the slots */
    ASYNC_RETRY_MS = 10,      /* before the same question is asked again */
    ASYNC_TRIES_MAX = 64
};

/* What is known of a server. */
enum async_gate {
    GATE_UNKNOWN, /* a new connection: nothing yet */
    GATE_ASKED,   /* asked for its tenure */
    GATE_READ,    /* it has said its tenure; whether that is known is to be asked */
    GATE_SOUGHT,  /* that is asked */
    GATE_OPEN,    /* its data are whole */
    GATE_CLOSED   /* they may not be, or it is no primary */
};

struct async_node {
    struct redis_async *async;
    struct redis_pipeline *pipeline;
    struct redis_server server;
    struct redis_tenure tenure;
    enum async_gate gate;
    bool was_open;      /* since it was connected: a second look does not hold anybody up */
    bool is_used;       /* since the last look */
    bool is_wrong;      /* no primary: the connection is of no use */
    int64_t checked_ms; /* the last look */
};

/* A command that may have to be asked elsewhere, or later. */
struct async_call {
    struct redis_async *async;
    struct redis_command *command;
    redis_pipeline_done *done;
    void *context;
    struct async_node *node; /* whom it was sent to */
    bool unguarded;          /* one of our own */
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
    struct async_call *waiting; /* in order */
    struct async_call **last;
    size_t node_count;
    struct async_node nodes[REDIS_SERVERS_MAX]; /* the first is the only one, but in a cluster */
    /* Sentinels */
    struct redis_pipeline *sentinel; /* the one asked, else NULL */
    bool seek;                       /* the primary is to be asked for */
    bool found;                      /* `primary` is news */
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

/** The node of a server, made where needed; NULL where there are too many. */
struct async_node *async_node_of(struct redis_async *async, const struct redis_server *server,
                                 int64_t now_ms);

/** Looks at the node's tenure, as far as it is due. */
void async_node_turn(struct async_node *node, int64_t now_ms);

/** Milliseconds until that, INT64_MAX for never. */
int64_t async_node_next_turn(const struct async_node *node, int64_t now_ms);

/** Asks who is the primary, or who has which slots, where that is to be known. */
void async_discovery_turn(struct redis_async *async, int64_t now_ms);

/** Milliseconds until that, INT64_MAX for never. */
int64_t async_discovery_next_turn(const struct redis_async *async, int64_t now_ms);

/** Puts a command, or one that comes back, behind those that wait. */
void async_enqueue(struct async_call *call);

/** A command of our own, to `node`, or by its key where that is NULL; its arena is freed after
 *  `done`. */
void async_send_internal(struct redis_async *async, struct async_node *node, struct arena *arena,
                         struct redis_command *command, redis_pipeline_done *done, void *context,
                         int64_t now_ms);

/** The same, straight over a connection that may have just begun. */
void async_send_over(struct redis_pipeline *pipeline, struct arena *arena,
                     struct redis_command *command, redis_pipeline_done *done, void *context,
                     int64_t now_ms);

#endif
