/*
 * redis_line_parts — what the files of redis_line share. Internal to them.
 *
 * Replies come in the middle of a pipeline's reading, when nothing may be sent: they only note what was learnt, and
 * redis_line_turn() acts on it.
 */
#ifndef SLUICE_STORE_REDIS_LINE_PARTS_H
#define SLUICE_STORE_REDIS_LINE_PARTS_H

#include "lib/store/redis_line.h"
#include "lib/store/redis_servers.h"
#include "lib/store/redis_tenure.h"

enum {
    LINE_CHECK_MS = 1000, /* how old the look at a server's tenure may be */
    LINE_CLOSED_MS = 200, /* between two looks at one whose data may not be whole */
    LINE_SEEK_MS = 200,   /* between two questions to Sentinels, or for the slots */
    LINE_AGAIN_MS = 10,   /* before the same question is asked again */
    LINE_TRIES_MAX = 64
};

/* What is known of a server. */
enum line_gate {
    GATE_UNKNOWN, /* a new connection: nothing yet */
    GATE_ASKED,   /* asked for its tenure */
    GATE_READ,    /* it has said its tenure; whether that is known is to be asked */
    GATE_SOUGHT,  /* that is asked */
    GATE_OPEN,    /* its data are whole */
    GATE_CLOSED   /* they may not be, or it is no primary */
};

struct line_node {
    struct redis_line *line;
    struct redis_pipeline *pipeline;
    struct redis_server server;
    struct redis_tenure tenure;
    enum line_gate gate;
    bool was_open;      /* since it was connected: a second look does not hold anybody up */
    bool is_used;       /* since the last look */
    bool is_wrong;      /* no primary: the connection is of no use */
    int64_t checked_ms; /* the last look */
};

/* A command that may have to be asked elsewhere, or later. */
struct line_flight {
    struct redis_line *line;
    struct redis_command *command;
    redis_pipeline_done *done;
    void *context;
    struct line_node *node; /* whom it was sent to */
    bool unguarded;         /* one of our own */
    bool asking;
    int tries;
    int64_t due_ms;
    int64_t deadline_ms;
    struct line_flight *next;
};

struct redis_line {
    struct redis_access access;
    int64_t timeout_ms;
    int epoll_fd;
    bool has_been_up;
    struct line_flight *waiting; /* in order */
    struct line_flight **last;
    size_t node_count;
    struct line_node nodes[REDIS_SERVERS_MAX]; /* the first is the only one, but in a cluster */
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
struct line_node *line_node_of(struct redis_line *line, const struct redis_server *server,
                               int64_t now_ms);

/** Looks at the node's tenure, as far as it is due. */
void line_node_turn(struct line_node *node, int64_t now_ms);

/** Milliseconds until that, INT64_MAX for never. */
int64_t line_node_next_turn(const struct line_node *node, int64_t now_ms);

/** Asks who is the primary, or who has which slots, where that is to be known. */
void line_seek_turn(struct redis_line *line, int64_t now_ms);

/** Milliseconds until that, INT64_MAX for never. */
int64_t line_seek_next_turn(const struct redis_line *line, int64_t now_ms);

/** Puts a command, or one that comes back, behind those that wait. */
void line_wait(struct line_flight *flight);

/** A command of our own, to `node`, or by its key where that is NULL; its arena is freed after `done`. */
void line_ask(struct redis_line *line, struct line_node *node, struct arena *arena,
              struct redis_command *command, redis_pipeline_done *done, void *context,
              int64_t now_ms);

/** The same, straight over a connection that may have just begun. */
void line_ask_pipeline(struct redis_pipeline *pipeline, struct arena *arena,
                       struct redis_command *command, redis_pipeline_done *done, void *context,
                       int64_t now_ms);

#endif
