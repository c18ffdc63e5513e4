/*
 * sandbox_files — which files and which TCP connections are left, behind sandbox.h: Landlock.
 */
#ifndef SLUICE_BASE_SANDBOX_FILES_H
#define SLUICE_BASE_SANDBOX_FILES_H

#include <stdbool.h>

#include "lib/base/sandbox.h"

/** Leaves the calling thread, and those that it makes, no more than `sandbox` names. The process
 *  must have no_new_privs. Returns false, with nothing changed, where the kernel has no
 *  Landlock. */
bool sandbox_files_enter(const struct sandbox *sandbox);

/** Whether the kernel has Landlock. */
bool sandbox_files_possible(void);

#endif
