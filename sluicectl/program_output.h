/*
 * program_output — what another program prints, run without a shell.
 */
#ifndef SLUICE_SLUICECTL_PROGRAM_OUTPUT_H
#define SLUICE_SLUICECTL_PROGRAM_OUTPUT_H

#include <stdbool.h>

#include "lib/base/arena.h"

struct program_output {
    int status;        /* its exit status; -1 where it did not end by itself or in time */
    struct str output; /* both in the arena, cut at some megabytes */
    struct str errors;
};

/** Runs `words` (a program found by PATH and its arguments, the last one NULL) for at most
 *  `seconds`, with nothing on its standard input. False where there is no such program. */
bool program_output(struct arena *arena, const char *const *words, int seconds,
                    struct program_output *output);

#endif
