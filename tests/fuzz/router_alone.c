/*
 * The router without the routes: their names are weak here, so that nothing of them is linked.
 */
#include "fcgi-app/pool/handler.h"
#include "fcgi-app/pool/line_handler.h"
#include "fcgi-app/pool/transaction_handler.h"

#define LINE_ROUTE(method, path, name, summary)                                                    \
    extern __attribute__((weak)) line_begin name##_begin;                                          \
    extern __attribute__((weak)) line_finish name##_finish;
#define ROUTE(pool, method, path, name, summary) extern __attribute__((weak)) handler name;
#define TRANSACTION_ROUTE(method, path, name, summary)                                             \
    extern __attribute__((weak)) transaction_begin name##_begin;                                   \
    extern __attribute__((weak)) transaction_end name##_end;
#include "fcgi-app/routes.tbl"
#undef TRANSACTION_ROUTE
#undef ROUTE
#undef LINE_ROUTE

#include "fcgi-app/machine/readyz_line.h"
extern __attribute__((weak)) line_begin readyz_line_begin;
extern __attribute__((weak)) line_finish readyz_line_finish;

/* The router asks which one this is, and it is another one than those that are nowhere. */
void readyz(const struct services *services, const struct request *request,
            struct response *response)
{
    (void)services;
    (void)request;
    (void)response;
}

#include "fcgi-app/router.c"
