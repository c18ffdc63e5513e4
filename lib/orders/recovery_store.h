/*
 * recovery_store — what PostgreSQL does for a queue whose Redis has lost its memory.
 */
#ifndef SLUICE_ORDERS_RECOVERY_STORE_H
#define SLUICE_ORDERS_RECOVERY_STORE_H

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

#endif
