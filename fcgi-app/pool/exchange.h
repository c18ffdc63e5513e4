/*
 * exchange — one request and its response, with the memory of both. Used by both kinds of pool.
 */
#ifndef SLUICE_POOL_EXCHANGE_H
#define SLUICE_POOL_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include <fcgiapp.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"
#include "fcgi-app/router.h"
#include "lib/base/arena.h"

struct exchange {
    struct arena *arena;
    struct request request;
    struct response response;
    const struct route *route; /* NULL if none was found */
    void *memory;              /* of the route, between begin and finish */
    struct str member;         /* the sender, for the log; may be empty */
    int64_t started_ms;        /* monotonic */
    int64_t started_us;        /* likewise, not rounded to the turns of a loop */
    enum pool pool;
    bool input_is_read;    /* the connection holds no more input of this request */
    void *owner;           /* used by the pool */
    struct exchange *next; /* used by the pool */
};

/** Free exchanges, with their memory. */
struct exchange_store {
    struct exchange *spare;
    size_t count;
};

/** An empty one, from the store or new; never NULL. */
struct exchange *exchange_take(struct exchange_store *store);

/** Clears it and puts it into the store, which keeps a few hundred. */
void exchange_give_back(struct exchange_store *store, struct exchange *exchange);

/** Frees all in the store. */
void exchange_store_free(struct exchange_store *store);

/** A new one, empty; never NULL. */
struct exchange *exchange_new(void);

/** Clears it and keeps its memory for the next request. */
void exchange_clear(struct exchange *exchange);

/** NULL is allowed. */
void exchange_free(struct exchange *exchange);

/** Reads the request and finds its route. Returns false if the response is already complete. */
bool exchange_begin(struct exchange *exchange, enum pool pool, size_t body_max, FCGX_Request *fcgi,
                    int64_t now_ms);

/** Passes the response to libfcgi, logs and counts the request. Ending the request on the
 *  connection is left to the caller. */
void exchange_send(struct exchange *exchange, FCGX_Request *fcgi, int64_t now_ms);

/** Appends the response to `out` instead, and logs and counts the request. */
void exchange_format(struct exchange *exchange, struct buffer *out, int64_t now_ms);

#endif
