/*
 * scratch — files that live as long as one test program.
 */
#ifndef SLUICE_TESTS_SCRATCH_H
#define SLUICE_TESTS_SCRATCH_H

#include <sys/types.h>

/** The path of the file `name` in a private temporary directory, which goes with the process.
 *  Valid until the fourth next call. */
const char *scratch_path(const char *name);

/** Writes `text` to that file, with `mode` whatever the umask, and gives its path. The file is
 *  replaced, never overwritten. */
const char *scratch_write(const char *name, const char *text, mode_t mode);

#endif
