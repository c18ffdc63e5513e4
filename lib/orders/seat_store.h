/*
 * seat_store — what PostgreSQL has to tell Redis of seats: their states with change numbers, and
 * the plans that the positions belong to. Each call is one statement, so what it returns was true
 * at one moment. Results live as long as the arena.
 */
#ifndef SLUICE_ORDERS_SEAT_STORE_H
#define SLUICE_ORDERS_SEAT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/admission/seats.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/postgres.h"

/** Seats of one show, by id. */
struct seat_states {
    struct show_ref
        show; /* with the queue that it is sold through now; empty where there are no seats */
    const struct seat_state *states;
    size_t count;
};

/** What has become of the seats of an order by now, whoever has them. */
enum postgres_outcome seat_store_of_order(struct postgres *postgres, struct arena *arena,
                                          struct str order, struct seat_states *states);

/** The same of `count` (≤ SEATS_PER_CALL) seats of a show; those that were never ordered
 *  are given too, with change 0. */
enum postgres_outcome seat_store_of_seats(struct postgres *postgres, struct arena *arena,
                                          struct str show, const struct str *seats, size_t count,
                                          struct seat_states *states);

/** At most `limit` seats of a show that were ever ordered, behind the id `after` (empty: from
 *  the first on). */
enum postgres_outcome seat_store_page(struct postgres *postgres, struct arena *arena,
                                      struct str show, struct str after, int64_t limit,
                                      struct seat_states *states);

/** The same of all seats; those that were never ordered with change 0. */
enum postgres_outcome seat_store_page_of_all(struct postgres *postgres, struct arena *arena,
                                             struct str show, struct str after, int64_t limit,
                                             struct seat_states *states);

/** A show as Redis gets it. */
struct show_plan {
    struct show_ref show;
    struct show_rules rules;
    const struct str *seats; /* in the order of their positions */
    size_t count;
};

/** `*found` is false where there is no such show. */
enum postgres_outcome seat_store_plan(struct postgres *postgres, struct arena *arena,
                                      struct str show, bool *found, struct show_plan *plan);

struct show_version {
    struct str show;
    int64_t version;
    struct str concert;
};

/** At most `limit` shows that are sold through `queue`, by id, behind `after` (empty: from the
 *  first on). */
enum postgres_outcome seat_store_shows(struct postgres *postgres, struct arena *arena,
                                       struct str queue, struct str after, int64_t limit,
                                       const struct show_version **shows, size_t *count);

#endif
