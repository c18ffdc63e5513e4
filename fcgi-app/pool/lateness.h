/*
 * lateness — the persistent lateness of a worker: the minimum noted within the last tenths of a
 * second. One long turn, or a process that was stopped for a moment, is no overload: what follows
 * is on time again.
 */
#ifndef SLUICE_POOL_LATENESS_H
#define SLUICE_POOL_LATENESS_H

#include <stdint.h>

enum { LATENESS_WINDOW_MS = 100 };

/** Zeroed: not late. Times are monotonic. */
struct lateness {
    int64_t window_began_ms;
    int64_t least_ms;        /* in this window */
    int64_t least_before_ms; /* in the one before it */
};

/** Records that something is `late_ms` ≥ 0 late now. To be called often while there is work. */
void lateness_note(struct lateness *lateness, int64_t late_ms, int64_t now_ms);

/** The minimum recorded in the last LATENESS_WINDOW_MS to twice as long. */
int64_t lateness_ms(const struct lateness *lateness);

#endif
