/*
 * blocking_loop — the worker of the order, payment, catalog and operator pools: one request at a
 * time, one connection a request. So the number of processes bounds the concurrent orders in
 * PostgreSQL.
 *
 * A route that is one transaction (transaction_handler.h) overlaps with the next request: while
 * PostgreSQL works for the first, the worker does the first half of the second, up to its
 * statement, and sends that as soon as the first result has arrived. So a database connection waits
 * neither for Redis nor for nginx.
 */
#ifndef SLUICE_POOL_BLOCKING_LOOP_H
#define SLUICE_POOL_BLOCKING_LOOP_H

#include "fcgi-app/pool/services.h"

/** Serves until SIGTERM, then finishes the requests in progress. Between requests the order pool
 *  sends its heartbeat while PostgreSQL answers. Returns the exit code. */
int blocking_loop_run(const struct services *services);

#endif
