/*
 * poll_tiers — when a waiting member should poll again: later the further back, and with jitter, so
 * that a crowd that arrived at one moment does not poll at one moment.
 */
#ifndef SLUICE_QUEUE_POLL_TIERS_H
#define SLUICE_QUEUE_POLL_TIERS_H

#include <stdint.h>

#include "lib/base/str.h"

struct poll_pause {
    int64_t seconds;  /* without jitter, ≥ 1 */
    int64_t retry_ms; /* with up to 25 % jitter, in all tiers but the first */
};

/** The pause for 0-based `rank` by `tiers`, the queue's setting pollTiers as JSON ([{"upToRank":
 *  n, "seconds": n}, …], rising); empty or unreadable: the default tiers. Ranks beyond the last
 *  tier have its pause. */
struct poll_pause poll_tiers_pause(struct str tiers, int64_t rank);

/** The pause of a member who does not wait in line: `seconds` without jitter. */
struct poll_pause poll_tiers_fixed(int64_t seconds);

#endif
