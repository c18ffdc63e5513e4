/*
 * poll_tiers — when whoever waits should ask again: the further back, the later, and with jitter,
 * so that a crowd that came at one moment does not ask at one moment.
 */
#ifndef SLUICE_QUEUE_POLL_TIERS_H
#define SLUICE_QUEUE_POLL_TIERS_H

#include <stdint.h>

#include "lib/base/str.h"

struct poll_pause {
    int64_t seconds;  /* without jitter, ≥ 1 */
    int64_t retry_ms; /* with up to a quarter more, in all tiers but the first */
};

/** The pause for 0-based `rank` by `tiers`, the queue's setting pollTiers as JSON ([{"upToRank":
 *  n, "seconds": n}, …], rising); empty or unreadable: the default tiers. Ranks beyond the last
 *  tier have its pause. */
struct poll_pause poll_tiers_pause(struct str tiers, int64_t rank);

/** The pause of one who does not wait in line: `seconds` without jitter. */
struct poll_pause poll_tiers_fixed(int64_t seconds);

#endif
