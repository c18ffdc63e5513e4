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
    const struct route *route; /* NULL where none was found */
    void *memory;              /* of the route, between begin and finish */
    struct str member;         /* who sent it, for the log; may be empty */
    int64_t started_ms;        /* monotonic */
    int64_t started_us;        /* likewise, and not rounded to the turns of a loop */
    enum pool pool;
    bool input_is_read;    /* nothing of this request is left in the connection */
    void *owner;           /* of the pool */
    struct exchange *next; /* of the pool */
};

/** Exchanges that are free, with their memory. */
struct exchange_store {
    struct exchange *spare;
    size_t count;
};

/** An empty one, of the store or new; never NULL. */
struct exchange *exchange_take(struct exchange_store *store);

/** Empties it and puts it into the store, which keeps some hundred. */
void exchange_give_back(struct exchange_store *store, struct exchange *exchange);

/** Frees all that are in the store. */
void exchange_store_free(struct exchange_store *store);

/** A new one, empty; never NULL. */
struct exchange *exchange_new(void);

/** Empties it and keeps its memory for the next request. */
void exchange_clear(struct exchange *exchange);

/** NULL is allowed. */
void exchange_free(struct exchange *exchange);

/** Reads the request and finds its route. Returns false where the response is complete already. */
bool exchange_begin(struct exchange *exchange, enum pool pool, size_t body_max, FCGX_Request *fcgi,
                    int64_t now_ms);

/** Hands the response to libfcgi and logs and counts the request. The connection's end of
 *  request is the caller's. */
void exchange_send(struct exchange *exchange, FCGX_Request *fcgi, int64_t now_ms);

/** Appends the response to `out` instead, and logs and counts the request. */
void exchange_format(struct exchange *exchange, struct buffer *out, int64_t now_ms);

#endif
