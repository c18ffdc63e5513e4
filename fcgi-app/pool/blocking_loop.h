/*
 * blocking_loop — the worker of the order, payment and operator pools: one request after the other,
 * one connection a request. So the number of processes is the number of orders that PostgreSQL sees
 * at once.
 *
 * A route that is one transaction (transaction_handler.h) lets the next one in beside it: while
 * PostgreSQL works for the first, the worker does the first half of the second, up to its
 * statement, and sends that as soon as the first one's answer is there. So a connection to the
 * database waits neither for Redis nor for nginx.
 */
#ifndef SLUICE_POOL_BLOCKING_LOOP_H
#define SLUICE_POOL_BLOCKING_LOOP_H

#include "fcgi-app/pool/services.h"

/** Serves until SIGTERM, which lets the requests at hand be finished. Between requests the order
 *  pool gives its sign of life while PostgreSQL answers. Returns the exit code. */
int blocking_loop_run(const struct services *services);

#endif
