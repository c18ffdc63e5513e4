/*
 * shutdown — the orderly end of a daemon: SIGTERM and SIGINT are blocked but for the moments in
 * which the daemon waits, so a signal never hits it in the middle of a step and is never lost.
 */
#ifndef SLUICE_BASE_SHUTDOWN_H
#define SLUICE_BASE_SHUTDOWN_H

#include <stdbool.h>
#include <stdint.h>

/** Blocks SIGTERM and SIGINT and takes them over; SIGPIPE is ignored from now on. */
void shutdown_prepare(void);

/** Waits for `ms` milliseconds (≥ 0) or until the end is asked for. Returns true once it has
 *  been. */
bool shutdown_wait(int64_t ms);

#endif
