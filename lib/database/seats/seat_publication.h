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

/** Publishes the current states of `order`'s seats; none for an order of items. False if either
 *  server did not answer. */
bool order_seats_publish(struct postgres *postgres, struct redis *redis, struct arena *arena,
                         struct str order);

/** Publishes the current states of `count` seats (any number) of a show: for seats that Redis shows
 *  as free and PostgreSQL as taken. False if either server did not answer. */
bool show_seats_publish(struct postgres *postgres, struct redis *redis, struct arena *arena,
                        struct str show, const struct str *seats, size_t count);

/** Publishes every seat of a show that was ever ordered. `*applied` (may be NULL): the number of
 *  states applied. False if either server did not answer. */
bool show_states_publish(struct postgres *postgres, struct redis *redis, struct arena *arena,
                         struct str show, int64_t *applied);

/** Publishes a show and its plan to Redis. LOADED, PRESENT (Redis has this version or a later one),
 *  OLDER (another process is loading it), NOT_FOUND (PostgreSQL has no such show), or
 *  ADMISSION_UNAVAILABLE where either did not answer: reconcile does it later. */
enum outcome show_publish(struct postgres *postgres, struct redis *redis, struct arena *arena,
                          struct str show);

#endif
