/*
 * recovery_store — what PostgreSQL does for a queue whose Redis has lost its memory.
 */
#ifndef SLUICE_ORDERS_RECOVERY_STORE_H
#define SLUICE_ORDERS_RECOVERY_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/postgres.h"

/** Raises the incarnation of `queue` by one if it is still `expected`: waits for the orders that run, and
 *  those claimed before can no longer commit. Of several callers who expect the same, one raises it.
 *  POSTGRES_OK: `*incarnation` is the one that holds now, 0 for a queue that is not there. */
enum postgres_outcome incarnation_raise(struct postgres *postgres, struct arena *arena,
                                        struct str queue, int64_t expected, int64_t *incarnation);

/** Place numbers of `queue` in `epoch` above `after`, whose owners have spent an admission: rising, at
 *  most `limit` (≥ 1). To be read after incarnation_raise(), page by page until one is empty.
 *  POSTGRES_OK fills `*numbers` (in the arena) and `*count`. */
enum postgres_outcome spent_numbers(struct postgres *postgres, struct arena *arena,
                                    struct str queue, int64_t epoch, int64_t after, int64_t limit,
                                    const int64_t **numbers, size_t *count);

/** A place that an unpaid order holds. Text is borrowed from the answer. */
struct held_place {
    struct str member;
    struct str order;
};

/** The held places of `queue` whose member comes behind `after` (empty: from the first on), by
 *  member, at most `limit` (≥ 1). POSTGRES_OK fills `*places` (in the arena) and `*count`. */
enum postgres_outcome held_places(struct postgres *postgres, struct arena *arena, struct str queue,
                                  struct str after, int64_t limit, const struct held_place **places,
                                  size_t *count);

/** Sets `held[i]` for each of the `count` (≥ 1) orders that holds its place. */
enum postgres_outcome orders_hold_places(struct postgres *postgres, struct arena *arena,
                                         const struct held_place *places, size_t count, bool *held);

#endif
