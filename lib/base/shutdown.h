/*
 * shutdown — orderly termination of a daemon: SIGTERM and SIGINT are blocked except while the
 * daemon waits, so a signal never interrupts a step and is never lost.
 */
#ifndef SLUICE_BASE_SHUTDOWN_H
#define SLUICE_BASE_SHUTDOWN_H

#include <stdbool.h>
#include <stdint.h>

/** Blocks SIGTERM and SIGINT, which only shutdown_wait() then receives; ignores SIGPIPE. */
void shutdown_prepare(void);

/** Waits `ms` milliseconds (≥ 0) or until termination is requested. Returns true once it has been
 *  requested. */
bool shutdown_wait(int64_t ms);

#endif
