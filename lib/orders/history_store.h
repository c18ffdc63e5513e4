/*
 * history_store — how a queue went, minute by minute, and when the cleanup job was last there.
 */
#ifndef SLUICE_ORDERS_HISTORY_STORE_H
#define SLUICE_ORDERS_HISTORY_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/admission/queue_publication.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/postgres.h"

enum {
    HISTORY_POINTS_MAX = 1500,
    HISTORY_MINUTES_MAX = QUEUE_SERIES_MAX / 60 + 2, /* that a queue's samples touch */
    HISTORY_PRUNED_MAX = 5000                        /* rows that one call deletes */
};

/** The last minute (since 1970) of the history of `queue`; -1 where there is none. */
enum postgres_outcome history_last(struct postgres *postgres, struct arena *arena, struct str queue,
                                   int64_t *minute);

/** Adds `count` (≤ HISTORY_MINUTES_MAX) minutes; those that are there stay as they are. `second`
 *  of each is within its minute. */
enum postgres_outcome history_put(struct postgres *postgres, struct arena *arena, struct str queue,
                                  const struct queue_sample *minutes, size_t count);

/** Reads the history of `queue` from `from_s` to `to_s` (seconds since 1970; the latter left
 *  out), one point every `step_s` seconds, oldest first, at most HISTORY_POINTS_MAX, into
 *  `*points` (in the arena): the last minute of each step with the worst latencies of all,
 *  `second` being the step's beginning. */
enum postgres_outcome history_range(struct postgres *postgres, struct arena *arena,
                                    struct str queue, int64_t from_s, int64_t to_s, int64_t step_s,
                                    struct queue_sample **points, size_t *count);

/** Deletes up to HISTORY_PRUNED_MAX rows that are older than `days`. */
enum postgres_outcome history_prune(struct postgres *postgres, struct arena *arena, int64_t days);

/** Notes that `program` has finished a pass. */
enum postgres_outcome pass_note(struct postgres *postgres, struct arena *arena,
                                const char *program);

#endif
