/*
 * stop_signal — SIGTERM, SIGINT and SIGQUIT ask the process to finish and end; the second one ends
 * it at once. They stay blocked except while the process waits or looks, so that none is lost
 * between a test and the wait.
 */
#ifndef SLUICE_POOL_STOP_SIGNAL_H
#define SLUICE_POOL_STOP_SIGNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/** Blocks and installs them; SIGHUP and SIGPIPE are ignored. To be called after FCGX_Init(),
 *  which takes SIGTERM for itself. `open_mask` gets the mask to wait with (ppoll, epoll_pwait). */
void stop_signal_install(sigset_t *open_mask);

/** Lets in what has come since, at most every 20 ms by `now_ms`. A wait does so only where it
 *  has to wait: a busy process finds something ready each time, and would never hear it. */
void stop_signal_look(const sigset_t *open_mask, int64_t now_ms);

/** True once the process was asked to end. */
bool stop_signal_came(void);

#endif
