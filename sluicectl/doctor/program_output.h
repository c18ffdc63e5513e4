/*
 * program_output — runs another program, without a shell, and captures its output.
 */
#ifndef SLUICE_SLUICECTL_PROGRAM_OUTPUT_H
#define SLUICE_SLUICECTL_PROGRAM_OUTPUT_H

#include <stdbool.h>

#include "lib/base/arena.h"

struct program_output {
    int status;        /* its exit status; -1 if it was killed or timed out */
    struct str output; /* both in the arena, cut at some megabytes */
    struct str errors;
};

/** Runs `words` (a program found by PATH and its arguments, NULL-terminated) for at most `seconds`,
 *  with empty standard input. False if there is no such program. */
bool program_output(struct arena *arena, const char *const *words, int seconds,
                    struct program_output *output);

#endif
