/*
 * snapshot_rounds — reads the queues with long lines each snapshot_interval_ms, for the queue pool
 * of this host. One sluice-board of a host does it; another one running beside it takes over when
 * that one ends.
 */
#ifndef SLUICE_BOARD_SNAPSHOT_ROUNDS_H
#define SLUICE_BOARD_SNAPSHOT_ROUNDS_H

#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/settings/settings.h"
#include "lib/store/redis.h"

struct snapshot_rounds;

/** Never NULL. Does nothing if snapshot_file is not set. `settings` is borrowed. */
struct snapshot_rounds *snapshot_rounds_new(const struct settings *settings);

/** Removes the snapshots. */
void snapshot_rounds_free(struct snapshot_rounds *rounds);

/** Reports that `waiting` members wait in `queue` now. */
void snapshot_rounds_see(struct snapshot_rounds *rounds, struct str queue, int64_t waiting);

/** Does what is due, and returns for how many milliseconds nothing will be due. */
int64_t snapshot_rounds_step(struct snapshot_rounds *rounds, struct redis *redis,
                             struct arena *arena);

#endif
