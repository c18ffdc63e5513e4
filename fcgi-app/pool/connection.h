/*
 * connection — the FastCGI connections of the event loop, a table of fixed size.
 */
#ifndef SLUICE_POOL_CONNECTION_H
#define SLUICE_POOL_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fcgiapp.h>

#include "lib/base/str.h"

enum { CONNECTIONS_MAX = 4096 }; /* nginx keeps 512 alive for each of its own workers */

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
    size_t hint; /* where to look for a free place first */
    struct connection all[CONNECTIONS_MAX];
};

/** Takes a free place for `fd`; NULL where there is none. */
struct connection *connection_open(struct connection_table *table, int fd, int64_t now_ms);

/** What became of a look at the listener. */
enum accepted {
    ACCEPTED_ALL,  /* nothing waits there any more */
    ACCEPTED_SOME, /* more may wait */
    ACCEPTED_NONE  /* none can be accepted while file descriptors, say, are wanting */
};

/** Accepts what waits at the listener and has epoll watch it: one, and one more for each few
 *  requests in flight. So a storm does not wait for as many long turns, and while there is
 *  little to do the other workers get their share. */
enum accepted connections_accept(struct connection_table *table, int epoll_fd, int64_t now_ms);

/** Closes it without a further word, and frees its place. */
void connection_close(struct connection_table *table, struct connection *connection);

/** Begins reading the request that has arrived. Returns false where it was none: the connection
 *  is then closed. */
bool connection_read(struct connection_table *table, struct connection *connection);

/** Ends the request that was answered. The connection is idle afterwards, or closed where the
 *  peer is gone. */
void connection_finish(struct connection_table *table, struct connection *connection,
                       int64_t now_ms);

/** Sends `answer` (as CGI wants it) and closes the connection. nginx must not put its next
 *  request into a connection that is being closed, as a POST lost there is not sent again: so
 *  the answer is written with something behind its end, in one piece, which keeps nginx from
 *  using the connection again. */
void connection_finish_last(struct connection_table *table, struct connection *connection,
                            struct str answer);

#endif
