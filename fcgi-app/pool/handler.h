/*
 * handler — the form of a route of the blocking pools: one request in, one response out.
 */
#ifndef SLUICE_POOL_HANDLER_H
#define SLUICE_POOL_HANDLER_H

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"

typedef void handler(const struct services *services, const struct request *request,
                     struct response *response);

#define LINE_ROUTE(method, path, name, summary)
#define ROUTE(pool, method, path, name, summary) handler name;
#define TRANSACTION_ROUTE(method, path, name, summary)
#include "fcgi-app/routes.tbl"
#undef TRANSACTION_ROUTE
#undef ROUTE
#undef LINE_ROUTE

#endif
