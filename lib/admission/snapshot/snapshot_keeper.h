/*
 * snapshot_keeper — keeps the snapshots of a host up to date; used by one process of each host.
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

/** Becomes the keeper of the snapshots in the file `path`. NULL, with errno set, if the file is
 *  unusable; EAGAIN or EACCES: another process of this host keeps them. */
struct snapshot_keeper *snapshot_keeper_open(const char *path);

/** Closes every snapshot: no answers are given from them any more. NULL is allowed. */
void snapshot_keeper_close(struct snapshot_keeper *keeper);

/** Reports that `waiting` members are in `queue` (a slug): it is kept from now on if they are
 *  many, as far as there is room, and dropped if they are few. */
void snapshot_keeper_see(struct snapshot_keeper *keeper, struct str queue, int64_t waiting);

/** The number of kept queues: 0 … `count` - 1 are their indexes below, until the next see or
 *  refresh. */
size_t snapshot_keeper_count(const struct snapshot_keeper *keeper);

/** Reads the `i`th queue from Redis, if its snapshot was used lately, and publishes it to readers.
 *  A queue that no longer exists is dropped. Returns false if Redis did not answer. `now_ms` is
 *  monotonic. */
bool snapshot_keeper_refresh(struct snapshot_keeper *keeper, size_t i, struct redis *redis,
                             struct arena *arena, int64_t now_ms);

#endif
