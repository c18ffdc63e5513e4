/*
 * live_screen — a terminal screen redrawn every second, until q or Ctrl-C.
 */
#ifndef SLUICE_SLUICECTL_LIVE_SCREEN_H
#define SLUICE_SLUICECTL_LIVE_SCREEN_H

#include <stdbool.h>

#include "lib/base/arena.h"

/** Takes over the terminal: alternate screen, no cursor, keys without Enter. False if standard
 *  output is no terminal. */
bool live_screen_start(void);

/** Starts a frame: everything printed from now on. */
void live_screen_clear(void);

/** Shows it and waits for `rest_ms`. False once a key or a signal ends it. */
bool live_screen_wait(long rest_ms);

/** Restores the terminal. */
void live_screen_end(void);

/** The number of lines of the terminal; 24 if unknown. */
int live_screen_lines(void);

/** The numbers as a line of bars, in the arena; each relative to the largest. */
const char *live_screen_bars(struct arena *arena, const double *numbers, int count);

#endif
