/*
 * router — finds the route of a request in the table of routes.tbl.
 */
#ifndef SLUICE_ROUTER_H
#define SLUICE_ROUTER_H

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/handler.h"
#include "fcgi-app/pool/line_handler.h"
#include "fcgi-app/pool/services.h"
#include "fcgi-app/pool/transaction_handler.h"

struct route {
    unsigned int pools; /* bit 1 << enum pool for each that serves it */
    enum method method;
    const char *path;  /* as in routes.tbl */
    handler *handler;  /* NULL if it is one of the other two kinds */
    line_begin *begin; /* of the queue pool, else NULL */
    line_finish *finish;
    transaction_begin *transaction_begin; /* of the order pool, else NULL */
    transaction_end *transaction_end;
};

enum { ROUTES_MAX = 192 };

/** A unique number for each route, below ROUTES_MAX; 0 for NULL. */
size_t router_number(const struct route *route);

/** The route of `request` in `pool`; request->parameters are filled. HEAD matches GET routes.
 *  Returns NULL if `response` is already complete: 404 for a path, or an id in it, that this pool
 *  does not know; 405 with Allow for another method. */
const struct route *router_find(enum pool pool, struct request *request, struct response *response);

#endif
