/*
 * line_handler — the form of a route of the queue pool. It never blocks: begin checks the request
 * and returns the one Redis command that it needs; finish turns the reply into the response. In
 * between the worker serves other requests.
 */
#ifndef SLUICE_POOL_LINE_HANDLER_H
#define SLUICE_POOL_LINE_HANDLER_H

#include <hiredis/hiredis.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"
#include "lib/store/redis_command.h"

/** Returns the command to send, or NULL if `response` is already complete, or if response->query is
 *  set: it is sent to Redis in a batch with others, and finish finds the result in it, without a
 *  reply of its own. `*memory` is passed to finish and lives in the request's arena. */
typedef struct redis_command *line_begin(const struct services *services,
                                         const struct request *request, struct response *response,
                                         void **memory);

/** `reply` is NULL if Redis did not answer. A finish that sets response->follow_up to a command is
 *  called again with its reply; this must stay rare, as most requests are to cost one round
 *  trip. */
typedef void line_finish(const struct services *services, const struct request *request,
                         const redisReply *reply, void *memory, struct response *response);

#define LINE_ROUTE(method, path, name, summary)                                                    \
    line_begin name##_begin;                                                                       \
    line_finish name##_finish;
#define ROUTE(pool, method, path, name, summary)
#define TRANSACTION_ROUTE(method, path, name, summary)
#include "fcgi-app/routes.tbl"
#undef TRANSACTION_ROUTE
#undef ROUTE
#undef LINE_ROUTE

#endif
