/*
 * history_store — the history of a queue, minute by minute, and when a program last finished a
 * pass.
 */
#ifndef SLUICE_ORDERS_HISTORY_STORE_H
#define SLUICE_ORDERS_HISTORY_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/admission/queues/queue_stats.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/postgres.h"

enum {
    HISTORY_POINTS_MAX = 1500,
    HISTORY_MINUTES_MAX = QUEUE_SERIES_MAX / 60 + 2, /* that a queue's samples span */
    HISTORY_PRUNED_MAX = 5000                        /* rows deleted per call */
};

/** The last minute (since 1970) in the history of `queue`; -1 if it is empty. */
enum postgres_outcome history_last(struct postgres *postgres, struct arena *arena, struct str queue,
                                   int64_t *minute);

/** Adds `count` (≤ HISTORY_MINUTES_MAX) minutes; existing ones stay unchanged. `second` of each is
 *  a second of its minute. */
enum postgres_outcome history_put(struct postgres *postgres, struct arena *arena, struct str queue,
                                  const struct queue_sample *minutes, size_t count);

/** Reads the history of `queue` from `from_s` (inclusive) to `to_s` (exclusive; seconds since 1970)
 *  into `*points` (in the arena): one point per `step_s` seconds, oldest first, at most
 *  HISTORY_POINTS_MAX. A point is the last minute of its step with the highest latencies of the
 *  step; its `second` is the start of the step. */
enum postgres_outcome history_range(struct postgres *postgres, struct arena *arena,
                                    struct str queue, int64_t from_s, int64_t to_s, int64_t step_s,
                                    struct queue_sample **points, size_t *count);

/** Deletes up to HISTORY_PRUNED_MAX rows that are older than `days`. */
enum postgres_outcome history_prune(struct postgres *postgres, struct arena *arena, int64_t days);

/** Records that `program` has finished a pass. */
enum postgres_outcome pass_note(struct postgres *postgres, struct arena *arena,
                                const char *program);

#endif
