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

enum { CONNECTIONS_MAX = 4096 }; /* nginx keeps 512 alive for each of its workers */

enum connection_state {
    CONNECTION_FREE,
    CONNECTION_IDLE, /* waits for a request, or for the rest of one */
    CONNECTION_BUSY  /* its request is in flight */
};

struct connection {
    enum connection_state state;
    FCGX_Request fcgi;
    bool has_news;            /* became readable while it was busy */
    bool peer_is_done;        /* the peer has shut down its sending side */
    bool is_due;              /* is in the list of those to check again */
    int64_t idle_since_ms;    /* monotonic */
    int64_t partial_since_ms; /* since when a request is incomplete; 0: none is */
};

struct connection_table {
    size_t open;
    size_t busy;
    size_t hint; /* where to start the search for a free place */
    struct connection all[CONNECTIONS_MAX];
};

/** The result of accepting from the listener. */
enum accepted {
    ACCEPTED_ALL,  /* none is left waiting */
    ACCEPTED_SOME, /* more may wait */
    ACCEPTED_NONE  /* none can be accepted, e.g. for lack of file descriptors */
};

/** Accepts connections and adds them to epoll: one, and one more for each few requests in flight.
 *  So a storm does not wait as many long turns, and under light load the other workers get their
 *  share. */
enum accepted connections_accept(struct connection_table *table, int epoll_fd, int64_t now_ms);

/** Closes it without an answer, and frees its place. */
void connection_close(struct connection_table *table, struct connection *connection);

/** Begins reading the request that has arrived. Returns false if there was none: the connection is
 *  then closed. */
bool connection_read(struct connection_table *table, struct connection *connection);

/** Ends the request that was answered. The connection is idle afterwards, or closed if the peer is
 *  gone. */
void connection_finish(struct connection_table *table, struct connection *connection,
                       int64_t now_ms);

/** Sends `answer` (in CGI format) and closes the connection. nginx must not send its next request
 *  on a connection that is being closed, as a POST lost there is not retried: so the answer is
 *  written together with bytes beyond its end, which keeps nginx from reusing the connection. */
void connection_finish_last(struct connection_table *table, struct connection *connection,
                            struct str answer);

#endif
