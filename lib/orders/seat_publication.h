/*
 * seat_publication — the way of seats from PostgreSQL, which knows whose they are, to Redis. Always
 * after a commit: what is told is read anew, and an older telling never undoes a later one. All may
 * be repeated.
 */
#ifndef SLUICE_ORDERS_SEAT_PUBLICATION_H
#define SLUICE_ORDERS_SEAT_PUBLICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/admission/seats.h"
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

/** Brings a show and its plan to Redis. LOADED, PRESENT (Redis knows this version or a later
 *  one), OLDER (somebody else is at it), NOT_FOUND (PostgreSQL knows no such show), or
 *  ADMISSION_UNAVAILABLE where either did not answer: reconcile does it later. */
enum outcome show_publish(struct postgres *postgres, struct redis *redis, struct arena *arena,
                          struct str show);

#endif
