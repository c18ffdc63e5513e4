/*
 * seat_publication — publishes the states of seats from PostgreSQL, which owns them, to Redis. To
 * be called after a commit: the states are read at that moment, and an older one never overwrites a
 * later one. Every call may be repeated.
 */
#ifndef SLUICE_ORDERS_SEAT_PUBLICATION_H
#define SLUICE_ORDERS_SEAT_PUBLICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/admission/seats/seats.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/postgres.h"
#include "lib/store/redis.h"

/** Tells what has become of the seats of `order`; none for an order of items. False where either
 *  did not answer. */
bool order_seats_publish(struct postgres *postgres, struct redis *redis, struct arena *arena,
                         struct str order);

/** Tells what has become of `count` seats (any number) of a show: for those that Redis took for
 *  free while PostgreSQL has given them away. False where either did not answer. */
bool show_seats_publish(struct postgres *postgres, struct redis *redis, struct arena *arena,
                        struct str show, const struct str *seats, size_t count);

/** Tells of all seats of a show that were ever ordered. `*applied` (may be NULL) gets how many
 *  were news. False where either did not answer. */
bool show_states_publish(struct postgres *postgres, struct redis *redis, struct arena *arena,
                         struct str show, int64_t *applied);

/** Publishes a show and its plan to Redis. LOADED, PRESENT (Redis has this version or a later one),
 *  OLDER (another process is loading it), NOT_FOUND (PostgreSQL has no such show), or
 *  ADMISSION_UNAVAILABLE where either did not answer: reconcile does it later. */
enum outcome show_publish(struct postgres *postgres, struct redis *redis, struct arena *arena,
                          struct str show);

#endif
