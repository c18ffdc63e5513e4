#include "lib/catalog/xfetch.h"

#include <math.h>

double xfetch_draw(int64_t beta_percent, double u)
{
    /* + 0.0 turns -0 into 0. */
    return -((double)beta_percent / 100.0) * log(u) + 0.0;
}

bool xfetch_due(int64_t now, int64_t until, int64_t cost, double draw)
{
    return now >= until || (double)(until - now) <= (double)cost * draw;
}
