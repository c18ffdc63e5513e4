/*
 * seat_store — what PostgreSQL publishes to Redis about seats: their states with change numbers,
 * and the plans that define their positions. Each call is one statement, so its result is
 * consistent. Results live as long as the arena.
 */
#ifndef SLUICE_ORDERS_SEAT_STORE_H
#define SLUICE_ORDERS_SEAT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/admission/seats/seats.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/postgres.h"

/** Seats of one show, by id. */
struct seat_states {
    /* With the queue that it is sold through now; empty if there are no seats. */
    struct show_ref show;
    const struct seat_state *states;
    size_t count;
};

/** The current states of the seats of an order, whichever order has them now. */
enum postgres_outcome seat_store_of_order(struct postgres *postgres, struct arena *arena,
                                          struct str order, struct seat_states *states);

/** The same of `count` (≤ SEATS_PER_CALL) seats of a show; those that were never ordered
 *  are given too, with change 0. */
enum postgres_outcome seat_store_of_seats(struct postgres *postgres, struct arena *arena,
                                          struct str show, const struct str *seats, size_t count,
                                          struct seat_states *states);

/** At most `limit` seats of a show that were ever ordered and follow the id `after` (empty: from
 *  the first). */
enum postgres_outcome seat_store_page(struct postgres *postgres, struct arena *arena,
                                      struct str show, struct str after, int64_t limit,
                                      struct seat_states *states);

/** The same for all seats; those never ordered have change 0. */
enum postgres_outcome seat_store_page_of_all(struct postgres *postgres, struct arena *arena,
                                             struct str show, struct str after, int64_t limit,
                                             struct seat_states *states);

/** A show as it is published to Redis. */
struct show_plan {
    struct show_ref show;
    struct show_rules rules;
    const struct str *seats; /* in the order of their positions */
    size_t count;
};

/** Reads a show's plan; `*found` is false if there is no such show. */
enum postgres_outcome seat_store_plan(struct postgres *postgres, struct arena *arena,
                                      struct str show, bool *found, struct show_plan *plan);

struct show_version {
    struct str show;
    int64_t version;
    int64_t updated_us; /* when it was stored, µs since 1970 */
    struct str concert;
};

/** At most `limit` shows sold through `queue`, ordered by id, that follow `after` (empty: from the
 *  first). */
enum postgres_outcome seat_store_shows(struct postgres *postgres, struct arena *arena,
                                       struct str queue, struct str after, int64_t limit,
                                       const struct show_version **shows, size_t *count);

/** Raises the version of a show above `known`, which Redis has, if it is lower: PostgreSQL has lost
 *  versions. `*raised` is false if it is not lower (or there is no such show). */
enum postgres_outcome seat_store_outrun(struct postgres *postgres, struct arena *arena,
                                        struct str show, int64_t known, bool *raised);

#endif
