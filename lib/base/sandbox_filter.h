/*
 * sandbox_filter — the filter of system calls behind sandbox.h.
 */
#ifndef SLUICE_BASE_SANDBOX_FILTER_H
#define SLUICE_BASE_SANDBOX_FILTER_H

#include <stdbool.h>

/** Filters the calls of all threads from now on. The process must have no_new_privs.
 *  `has_network`: IP sockets may be made. `has_sanitizers`: what LeakSanitizer needs at the end
 *  may be done, too. Filters add up: what one refuses stays refused. Returns false where the
 *  kernel takes none. */
bool sandbox_filter_enter(bool has_network, bool has_sanitizers);

/** Whether the kernel would take one. */
bool sandbox_filter_possible(void);

#endif
