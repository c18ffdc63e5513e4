/*
 * snapshot — what this host knows of each line, so that those far from its front need not ask
 * Redis. It says either exactly what lua/position.lua would have said a moment ago, or nothing. See
 * docs/decisions/0052.
 *
 * snapshot_keeper keeps it true, in one process of the host.
 */
#ifndef SLUICE_ADMISSION_SNAPSHOT_H
#define SLUICE_ADMISSION_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/admission/line.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"

enum { SNAPSHOT_AGE_MAX_MS = 1000 };

struct snapshot;

/** The snapshot of this host, which lives in the file `path`. NULL, with errno, where that is
 *  not usable. */
struct snapshot *snapshot_open(const char *path);

/** NULL is allowed. */
void snapshot_close(struct snapshot *snapshot);

/** Where `caller` stands, by a snapshot that is at most SNAPSHOT_AGE_MAX_MS old; `*age_ms` says
 *  how old. Fills `position`, whose text lives in `arena` or for ever, as line_read_position()
 *  does: always WAITING. Returns false where only Redis can tell. `now_ms` is monotonic.
 *  `snapshot` NULL: false. Never waits. */
bool snapshot_position(struct snapshot *snapshot, const struct line_caller *caller, int64_t now_ms,
                       struct arena *arena, struct line_position *position, int64_t *age_ms);

/** This host has learnt that number `seq` was taken over or left: from now on Redis is asked
 *  about it. */
void snapshot_doubt(struct snapshot *snapshot, struct str queue, int64_t seq);

#endif
