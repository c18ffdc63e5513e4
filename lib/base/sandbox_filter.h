/*
 * sandbox_filter — the seccomp part of sandbox.h: the filter of system calls.
 */
#ifndef SLUICE_BASE_SANDBOX_FILTER_H
#define SLUICE_BASE_SANDBOX_FILTER_H

#include <stdbool.h>

/** Filters the system calls of all threads from now on. The process must have set no_new_privs.
 *  `has_network`: IP sockets may be created. `has_sanitizers`: also allows what LeakSanitizer does
 *  at exit. Filters are cumulative: what one refuses stays refused. Returns false if the kernel
 *  accepts none. */
bool sandbox_filter_enter(bool has_network, bool has_sanitizers);

/** Whether the kernel would accept a filter. */
bool sandbox_filter_possible(void);

#endif
