/*
 * recovery_store — PostgreSQL's part in recovering a queue after Redis has lost data.
 */
#ifndef SLUICE_ORDERS_RECOVERY_STORE_H
#define SLUICE_ORDERS_RECOVERY_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/postgres.h"

/** Takes the lock of recoveries for this connection. `*is_locked`: false if another connection has
 *  it. It ends with recovery_unlock(), with the connection, or if this process makes no call for
 *  `pause_ms` (> 0): the server then ends the connection. */
enum postgres_outcome recovery_lock(struct postgres *postgres, struct arena *arena,
                                    int64_t pause_ms, bool *is_locked);

/** Releases the lock, and with it the limit of pauses. `*was_locked`: false if this connection did
 *  not have it any more. */
enum postgres_outcome recovery_unlock(struct postgres *postgres, struct arena *arena,
                                      bool *was_locked);

/** Raises the incarnation of `queue` by one if it is still `expected`: waits for running orders,
 *  and orders of earlier claims can no longer commit. Of several callers with the same `expected`,
 *  one raises it. `known` is the latest incarnation that Redis knows: if PostgreSQL has lost it, the
 *  incarnation is raised above it, by at most a thousand; 0 otherwise. POSTGRES_OK: `*incarnation`
 *  is the one now in force, 0 if the queue does not exist. */
enum postgres_outcome recovery_raise_incarnation(struct postgres *postgres, struct arena *arena,
                                                 struct str queue, int64_t expected, int64_t known,
                                                 int64_t *incarnation);

/** Numbers of `queue` in `epoch`, greater than `after`, whose owners have spent an admission:
 *  ascending, at most `limit` (≥ 1). Read them after recovery_raise_incarnation(), page by page until one is
 *  empty. POSTGRES_OK fills `*numbers` (in the arena) and `*count`. */
enum postgres_outcome recovery_spent_numbers(struct postgres *postgres, struct arena *arena,
                                             struct str queue, int64_t epoch, int64_t after,
                                             int64_t limit, const int64_t **numbers, size_t *count);

/** A place that an unpaid order holds. Text lives as long as the arena. */
struct held_place {
    struct str member;
    struct str order;
};

/** The held places of `queue` that follow `after` (zeroed: from the first), ordered by member and
 *  order, at most `limit` (≥ 1). POSTGRES_OK fills `*places` (in the arena) and `*count`. */
enum postgres_outcome recovery_held_places(struct postgres *postgres, struct arena *arena,
                                           struct str queue, const struct held_place *after,
                                           int64_t limit, const struct held_place **places,
                                           size_t *count);

/** Sets `held[i]` for each of the `count` (≥ 1) orders that still holds its place. */
enum postgres_outcome recovery_orders_hold_places(struct postgres *postgres, struct arena *arena,
                                                  const struct held_place *places, size_t count,
                                                  bool *held);

#endif
