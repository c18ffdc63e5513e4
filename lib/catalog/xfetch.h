/*
 * xfetch — when to compute something anew before its time is up (Vattani, Chierichetti, Lowenstein:
 * Optimal Probabilistic Cache Stampede Prevention, VLDB 2015). Each reader draws; the dearer the
 * computation was and the nearer the end, the likelier that one of them does it early, while the
 * others still read the old.
 */
#ifndef SLUICE_CATALOG_XFETCH_H
#define SLUICE_CATALOG_XFETCH_H

#include <stdbool.h>
#include <stdint.h>

/** How many times its cost before the end a reader who drew `u` begins: -β ln u. `u` in (0, 1],
 *  uniform; β ≥ 0 as a percentage: 100 is the optimum, more begins earlier, 0 never. */
double xfetch_draw(int64_t beta_percent, double u);

/** Whether something that took `cost` and is good until `until` is to be done anew at `now`; all
 *  three in one unit and on one clock. Always true from `until` on. */
bool xfetch_due(int64_t now, int64_t until, int64_t cost, double draw);

#endif
