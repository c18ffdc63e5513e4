/*
 * live_screen — a terminal that shows something anew every second, until q or Ctrl-C.
 */
#ifndef SLUICE_SLUICECTL_LIVE_SCREEN_H
#define SLUICE_SLUICECTL_LIVE_SCREEN_H

#include <stdbool.h>

#include "lib/base/arena.h"

/** Takes the terminal over: another screen, no cursor, keys without Enter. False where standard
 *  output is none. */
bool live_screen_start(void);

/** Begins a picture: what is printed from now on. */
void live_screen_clear(void);

/** Shows it and waits for `rest_ms`. False once a key or a signal says that it is over. */
bool live_screen_wait(long rest_ms);

/** Gives the terminal back as it was. */
void live_screen_end(void);

/** How many lines the terminal has; 24 where it does not say. */
int live_screen_lines(void);

/** The numbers as a line of bars, in the arena; each relative to the largest. */
const char *live_screen_bars(struct arena *arena, const double *numbers, int count);

#endif
