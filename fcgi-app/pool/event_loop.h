/*
 * event_loop — the queue pool's worker: one thread, epoll over the connections that nginx keeps
 * alive, one pipelined Redis connection for everything in flight. It never blocks.
 */
#ifndef SLUICE_POOL_EVENT_LOOP_H
#define SLUICE_POOL_EVENT_LOOP_H

#include "fcgi-app/pool/services.h"

/** Serves until SIGTERM, then finishes what is in flight (5 s at most). Returns the exit code. */
int event_loop_run(const struct services *services);

#endif
