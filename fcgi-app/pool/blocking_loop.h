/*
 * blocking_loop — the worker of the order, payment and operator pools: one request at a time, one connection
 * a request. So the number of processes is the number of orders that PostgreSQL sees at once.
 */
#ifndef SLUICE_POOL_BLOCKING_LOOP_H
#define SLUICE_POOL_BLOCKING_LOOP_H

#include "fcgi-app/pool/services.h"

/** Serves until SIGTERM, which lets the request at hand be finished. Between requests the order pool gives
 *  its sign of life while PostgreSQL answers. Returns the exit code. */
int blocking_loop_run(const struct services *services);

#endif
