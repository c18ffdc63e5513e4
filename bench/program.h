/*
 * program — what the main functions of the load programs share.
 */
#ifndef SLUICE_BENCH_PROGRAM_H
#define SLUICE_BENCH_PROGRAM_H

#include <stdint.h>

enum { PROGRAM_USAGE = 64 }; /* the exit code for wrong usage */

/** The number in an argument. Exits with PROGRAM_USAGE, saying so in `program`'s name, if `text` is
 *  no whole number from `least` to `most`. */
uint64_t program_number(const char *program, const char *text, uint64_t least, uint64_t most);

/** Allows this process as many open files as the system allows it. */
void program_raise_file_limit(void);

#endif
