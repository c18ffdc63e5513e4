/*
 * transaction_handler — the form of an order pool's route whose work is one transaction: the part
 * before it and the part after it. While PostgreSQL works for one request, the worker does the
 * first half of the next, so the database connection is hardly ever idle:
 * docs/decisions/0056-pipeline-two-orders-per-connection.md.
 */
#ifndef SLUICE_POOL_TRANSACTION_HANDLER_H
#define SLUICE_POOL_TRANSACTION_HANDLER_H

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"
#include "lib/store/postgres.h"

struct transaction {
    struct postgres_call call;
    void *memory; /* of the route, in the request's arena */
};

enum transaction_begun {
    TRANSACTION_ANSWERED, /* the response is complete: there is none */
    TRANSACTION_PREPARED, /* send the call, and call the second half once it has finished */
    TRANSACTION_ALONE     /* the second half does everything itself and may take long: no overlap */
};

/** The first half. Another request is in the database meanwhile, so it must be short. */
typedef enum transaction_begun transaction_begin(const struct services *services,
                                                 const struct request *request,
                                                 struct response *response,
                                                 struct transaction *transaction);

/** The second half: completes the response. The call of the next request may be in flight; any
 *  other query to PostgreSQL here waits for it. */
typedef void transaction_end(const struct services *services, const struct request *request,
                             struct response *response, struct transaction *transaction);

#define LINE_ROUTE(method, path, name, summary)
#define ROUTE(pool, method, path, name, summary)
#define TRANSACTION_ROUTE(method, path, name, summary)                                             \
    transaction_begin name##_begin;                                                                \
    transaction_end name##_end;
#include "fcgi-app/routes.tbl"
#undef TRANSACTION_ROUTE
#undef ROUTE
#undef LINE_ROUTE

#endif
