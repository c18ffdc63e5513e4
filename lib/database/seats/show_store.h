/*
 * show_store — concerts and their shows with seat plans in PostgreSQL, as operators write and read
 * them. Each call is one statement; the rules are in sql/migrations/0012_seats.sql.
 * Text in results lives as long as the arena. Times are ms since 1970.
 */
#ifndef SLUICE_ORDERS_SHOW_STORE_H
#define SLUICE_ORDERS_SHOW_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/admission/seats/seats.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/database/audit/audit_store.h"
#include "lib/store/postgres.h"

enum {
    CONCERT_TITLE_MAX = 200, /* characters, as all of these */
    CONCERT_VENUE_MAX = 200,
    CONCERT_DESCRIPTION_MAX = 4000,
    SEAT_LABEL_MAX = 64,
    HOLD_TTL_SECONDS_MIN = 1,
    HOLD_TTL_SECONDS_MAX = 3600,
    /* On a slow machine a plan of 50,000 seats may take longer than other statements may. */
    SHOW_PUT_TIMEOUT_MS = 30000
};
#define SEAT_PRICE_MAX INT64_C(1000000000000)

struct concert_record {
    struct str id;
    struct str title;       /* 1..CONCERT_TITLE_MAX, UTF-8 without control characters */
    struct str venue;       /* likewise */
    struct str description; /* may be empty; may have several lines */
    /* From here on set by PostgreSQL: */
    int64_t version;
    int64_t created_ms;
    int64_t updated_ms;
};

struct show_record {
    struct str id;
    struct str concert;
    int64_t starts_ms;
    struct str queue;
    int64_t max_seats;        /* 1..SEATS_MAX */
    int64_t hold_ttl_seconds; /* HOLD_TTL_SECONDS_MIN..MAX */
    struct str currency;      /* of all seats; empty if there are none */
    /* From here on set by PostgreSQL: */
    int64_t version;
    int64_t created_ms;
    int64_t updated_ms;
    int64_t seat_count;
    int64_t taken_count; /* ordered or sold */
};

struct plan_seat {
    struct str id;      /* see identifier_is_seat() */
    struct str section; /* these three 0..SEAT_LABEL_MAX, UTF-8 without control characters */
    struct str row;
    struct str number;
    int64_t price; /* 0..SEAT_PRICE_MAX minor units of the show's currency */
};

enum show_outcome {
    SHOW_FOUND,
    SHOW_CREATED,
    SHOW_CHANGED,
    SHOW_SAME, /* nothing to change: no new version and no audit row */
    SHOW_NONE,
    SHOW_QUEUE_GONE,
    SHOW_CONCERT_GONE,
    SHOW_QUEUE_FIXED, /* seats were ordered, so the show cannot change its queue */
    /* Ordered seats can neither be removed nor change their price: see show_change. */
    SHOW_SEATS_FIXED,
    SHOW_UNAVAILABLE, /* PostgreSQL cannot do it now; it did not happen */
    SHOW_UNKNOWN,     /* no answer: it may have happened, and may be repeated */
    SHOW_FAILED       /* refused because of a defect; logged */
};

/** Creates the concert or replaces its definition: CREATED, CHANGED, SAME, or a failure. Afterwards
 *  call catalog_concert_changed() and then outbox_done() for `*outbox_row` (0: none); otherwise
 *  reconcile delivers the row. */
enum show_outcome concert_store_put(struct postgres *postgres, struct arena *arena,
                                    const struct concert_record *concert,
                                    const struct change_author *author, int64_t *outbox_row);

/** FOUND, NONE, UNAVAILABLE, or FAILED. */
enum show_outcome concert_store_find(struct postgres *postgres, struct arena *arena, struct str id,
                                     struct concert_record *concert);

/** The result of show_store_put(). */
struct show_change {
    struct str left_queue;   /* the queue that it was sold through before; empty if unchanged */
    const struct str *fixed; /* for SEATS_FIXED: at most 100 of the seats concerned */
    size_t fixed_count;
};

/** Creates the show or replaces its definition, all or nothing. `seats` NULL: its seats stay
 *  unchanged; else `count` (≤ SHOW_SEATS_MAX) seats with distinct ids become its plan, in this
 *  order. CREATED, CHANGED, SAME, or a refusal. Call show_publish() and availability_publish()
 *  afterwards (reconcile and the outbox do it too). The statement timeout of `postgres` should be
 *  SHOW_PUT_TIMEOUT_MS. */
enum show_outcome show_store_put(struct postgres *postgres, struct arena *arena,
                                 const struct show_record *show, const struct plan_seat *seats,
                                 size_t count, const struct change_author *author,
                                 struct show_change *change);

/** The show without its plan, with the number of its seats: FOUND, NONE, UNAVAILABLE, or FAILED. */
enum show_outcome show_store_find(struct postgres *postgres, struct arena *arena, struct str id,
                                  struct show_record *show);

/** The plan of a show, in its order: FOUND (`*count` 0 if there is no such show), UNAVAILABLE,
 *  or FAILED. */
enum show_outcome show_store_plan(struct postgres *postgres, struct arena *arena, struct str id,
                                  const struct plan_seat **seats, size_t *count);

#endif
