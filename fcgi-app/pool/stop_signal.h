/*
 * stop_signal — SIGTERM, SIGINT and SIGQUIT ask the process to finish and exit; the second one ends
 * it immediately. They stay blocked except while the process waits or polls for them, so that none
 * is lost between a test and the wait.
 */
#ifndef SLUICE_POOL_STOP_SIGNAL_H
#define SLUICE_POOL_STOP_SIGNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/** Blocks them and installs their handlers; SIGHUP and SIGPIPE are ignored. To be called after
 *  FCGX_Init(), which installs its own SIGTERM handler. `open_mask` gets the mask to wait with
 *  (ppoll, epoll_pwait). */
void stop_signal_install(sigset_t *open_mask);

/** Delivers pending signals, at most every 20 ms by `now_ms`. A wait delivers them only if it has
 *  to block: a busy process always finds something ready and would never see them. */
void stop_signal_look(const sigset_t *open_mask, int64_t now_ms);

/** Installs them too, and waits `ms` milliseconds or until the process is asked to exit. */
void stop_signal_wait(int64_t ms);

/** True once the process was asked to exit. */
bool stop_signal_came(void);

#endif
