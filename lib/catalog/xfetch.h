/*
 * xfetch — when to recompute a cached value before it expires (Vattani, Chierichetti, Lowenstein:
 * Optimal Probabilistic Cache Stampede Prevention, VLDB 2015). Each reader draws a random number;
 * the more expensive the computation and the nearer the expiry, the likelier that one of them
 * recomputes early, while the others still read the old value.
 */
#ifndef SLUICE_CATALOG_XFETCH_H
#define SLUICE_CATALOG_XFETCH_H

#include <stdbool.h>
#include <stdint.h>

/** -β ln u: by how many times its cost before expiry a reader that drew `u` recomputes a value. `u`
 *  in (0, 1], uniform; β ≥ 0 in percent: 100 is optimal, more is earlier, 0 never early. */
double xfetch_draw(int64_t beta_percent, double u);

/** Whether a value that took `cost` to compute and expires at `until` is to be recomputed at `now`;
 *  all three in one unit and on one clock. Always true from `until` on. */
bool xfetch_due(int64_t now, int64_t until, int64_t cost, double draw);

#endif
