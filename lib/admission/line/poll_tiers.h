/*
 * poll_tiers — when a waiting member should poll again: later the further back, and with jitter, so
 * that a crowd that arrived at one moment does not poll at one moment.
 */
#ifndef SLUICE_ADMISSION_POLL_TIERS_H
#define SLUICE_ADMISSION_POLL_TIERS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/str.h"

enum {
    POLL_JITTER_PERCENT = 25, /* at most */
    POLL_FRONT_RANK = 100     /* a first tier that ends by this rank has no jitter */
};

struct poll_tier {
    int64_t up_to_rank; /* 0-based, inclusive */
    int64_t seconds;
};

struct poll_pause {
    int64_t seconds;  /* without jitter, ≥ 1 */
    int64_t retry_ms; /* with jitter */
};

/** The tiers of queues without own ones, by rising rank; sets their number. */
const struct poll_tier *poll_tiers_default(size_t *count);

/** The longest `retry_ms` that poll_tiers_pause() returns for `tiers`, at any rank. */
int64_t poll_tiers_longest_ms(struct str tiers);

/** The pause for 0-based `rank` by `tiers`, the queue's setting pollTiers as JSON ([{"upToRank":
 *  n, "seconds": n}, …], rising); empty or unreadable: the default tiers. Ranks beyond the last
 *  tier have its pause. */
struct poll_pause poll_tiers_pause(struct str tiers, int64_t rank);

/** The pause of a member who does not wait in line: `seconds` without jitter. */
struct poll_pause poll_tiers_fixed(int64_t seconds);

#endif
