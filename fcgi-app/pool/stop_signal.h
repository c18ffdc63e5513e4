/*
 * stop_signal — SIGTERM, SIGINT and SIGQUIT ask the process to finish and end; the second one ends it at once.
 * They stay blocked except while the process waits or looks, so that none is lost between a test and the wait.
 */
#ifndef SLUICE_POOL_STOP_SIGNAL_H
#define SLUICE_POOL_STOP_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/** Blocks and installs them; SIGHUP and SIGPIPE are ignored. To be called after FCGX_Init(), which takes
 *  SIGTERM for itself. `open_mask` gets the mask to wait with (ppoll, epoll_pwait). */
void stop_signal_install(sigset_t *open_mask);

/** Lets in what has come since. A wait does so only where it has to wait: one that finds something ready at once does not. */
void stop_signal_look(const sigset_t *open_mask);

/** True once the process was asked to end. */
bool stop_signal_came(void);

#endif
