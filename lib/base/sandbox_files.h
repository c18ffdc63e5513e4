/*
 * sandbox_files — the Landlock part of sandbox.h: which files and TCP connections remain allowed.
 */
#ifndef SLUICE_BASE_SANDBOX_FILES_H
#define SLUICE_BASE_SANDBOX_FILES_H

#include <stdbool.h>

#include "lib/base/sandbox.h"

/** Restricts the calling thread, and threads it creates from now on, to what `sandbox` names. The
 *  process must have set no_new_privs. Returns false, with nothing changed, if the kernel has
 *  no Landlock. */
bool sandbox_files_enter(const struct sandbox *sandbox);

/** Whether the kernel has Landlock. */
bool sandbox_files_possible(void);

#endif
