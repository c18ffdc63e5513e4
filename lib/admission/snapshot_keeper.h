/*
 * snapshot_keeper — keeps the snapshots of a host true: one process of each host has it.
 */
#ifndef SLUICE_ADMISSION_SNAPSHOT_KEEPER_H
#define SLUICE_ADMISSION_SNAPSHOT_KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis.h"

struct snapshot_keeper;

/** Keeps what lives in the file `path`. NULL, with errno, where the file is not usable; EAGAIN
 *  or EACCES: another process of this host keeps it. */
struct snapshot_keeper *snapshot_keeper_open(const char *path);

/** Takes every snapshot away: nothing is answered from it any more. NULL is allowed. */
void snapshot_keeper_close(struct snapshot_keeper *keeper);

/** `waiting` stand in `queue` (a slug): it is kept from now on where they are many, as far as
 *  there is room, and given up where they are few. */
void snapshot_keeper_see(struct snapshot_keeper *keeper, struct str queue, int64_t waiting);

/** How many queues are kept: 0 … `count` - 1 are their numbers below, until the next see or
 *  refresh. */
size_t snapshot_keeper_count(const struct snapshot_keeper *keeper);

/** Asks Redis about the `i`th queue, if somebody has looked at its snapshot lately, and shows
 *  what it says. A queue that is no more is given up. Returns false where Redis gave no answer.
 *  `now_ms` is monotonic. */
bool snapshot_keeper_refresh(struct snapshot_keeper *keeper, size_t i, struct redis *redis,
                             struct arena *arena, int64_t now_ms);

#endif
