/*
 * snapshot — this host's copy of each line, from which it answers members far from the front
 * without calling Redis. Its answer is exactly what lua/line/position.lua would have returned a
 * moment ago, or none. See docs/decisions/0052.
 *
 * One process of the host keeps it up to date, with snapshot_keeper.
 */
#ifndef SLUICE_ADMISSION_SNAPSHOT_H
#define SLUICE_ADMISSION_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/admission/line/line.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"

enum { SNAPSHOT_AGE_MAX_MS = 1000 };

struct snapshot;

/** Maps the host's snapshots from the file `path`. NULL, with errno set, if that is not
 *  usable. */
struct snapshot *snapshot_open(const char *path);

/** NULL is allowed. */
void snapshot_close(struct snapshot *snapshot);

/** The position of `caller`, from a snapshot that is at most SNAPSHOT_AGE_MAX_MS old; `*age_ms`
 *  gets its age. Fills `position`, whose text lives in `arena` or is constant, as
 *  line_read_position() does; the status is always WAITING. Returns false if Redis must be
 *  called, and for `snapshot` NULL. `now_ms` is monotonic. Never blocks. */
bool snapshot_position(struct snapshot *snapshot, const struct line_caller *caller, int64_t now_ms,
                       struct arena *arena, struct line_position *position, int64_t *age_ms);

/** Number `seq` was taken over or left through this host: from now on only Redis answers about
 *  it. */
void snapshot_doubt(struct snapshot *snapshot, struct str queue, int64_t seq);

#endif
