/*
 * connection — the FastCGI connections of the event loop, a table of fixed size.
 */
#ifndef SLUICE_POOL_CONNECTION_H
#define SLUICE_POOL_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fcgiapp.h>

enum { CONNECTIONS_MAX = 1024 };

enum connection_state {
    CONNECTION_FREE,
    CONNECTION_IDLE, /* waits for a request, or for the rest of one */
    CONNECTION_BUSY  /* its request is in flight */
};

struct connection {
    enum connection_state state;
    FCGX_Request fcgi;
    bool has_news;            /* became readable while it was busy */
    bool peer_is_done;        /* the other side sends no more */
    bool is_due;              /* stands in the list of those to look at again */
    int64_t idle_since_ms;    /* monotonic */
    int64_t partial_since_ms; /* since when a request is half here; 0: it is not */
};

struct connection_table {
    size_t open;
    size_t busy;
    struct connection all[CONNECTIONS_MAX];
};

/** Takes a free place for `fd`; NULL where there is none. */
struct connection *connection_open(struct connection_table *table, int fd, int64_t now_ms);

/** Closes it without a further word, and frees its place. */
void connection_close(struct connection_table *table, struct connection *connection);

/** Begins reading the request that has arrived. Returns false where it was none: the connection is then
 *  closed. */
bool connection_read(struct connection_table *table, struct connection *connection);

/** Ends the request that was answered. The connection is idle afterwards, or closed where the peer is
 *  gone. */
void connection_finish(struct connection_table *table, struct connection *connection,
                       int64_t now_ms);

/** Ends it so that nginx cannot use the connection again: the answer is sent, the end of request is left
 *  away and the connection closed. An end of request would let nginx send the next request into the
 *  closing connection, and a POST lost there is not sent again. */
void connection_finish_last(struct connection_table *table, struct connection *connection);

#endif
