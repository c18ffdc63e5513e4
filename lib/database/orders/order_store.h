/*
 * order_store — orders in PostgreSQL: placing, reading, expiring (payment_store: paying,
 * canceling). Each call is one statement, so one round trip and one transaction; the statements are
 * in sql/queries/, the rules in sql/migrations/. Text in results lives as
 * long as the arena.
 */
#ifndef SLUICE_ORDERS_ORDER_STORE_H
#define SLUICE_ORDERS_ORDER_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/admission/seats/seats.h"
#include "lib/admission/tokens/claim.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/database/outbox/outbox_acks.h"
#include "lib/store/postgres.h"

enum {
    ORDER_ITEMS_MAX = 50,
    ORDER_SEATS_MAX = SEATS_MAX,
    ORDER_QUANTITY_MAX = 10000,
    ORDER_ID_TEXT = 2 + RANDOM_ID_TEXT
};

struct order_item {
    struct str sku;
    int64_t quantity;   /* 1..ORDER_QUANTITY_MAX */
    int64_t unit_price; /* minor units; ignored in a request */
};

/** A seat of an order: labels as in the current plan, price as ordered. */
struct order_seat {
    struct str id;
    struct str section; /* these three may be empty */
    struct str row;
    struct str number;
    int64_t unit_price; /* minor units */
    int64_t change;     /* of the seat when the answer was read: for seats_publish() */
};

struct order {
    struct str id;
    struct str queue;
    struct str status; /* as in the API */
    struct str currency;
    int64_t total;                  /* minor units */
    int64_t created_us;             /* microseconds since 1970 */
    int64_t expires_us;             /* -1: never */
    bool place_held;                /* its member's place is still occupied */
    const struct order_item *items; /* by SKU; none for an order of seats */
    size_t item_count;
    struct str show;                /* empty for an order of items */
    const struct order_seat *seats; /* in the order of the plan */
    size_t seat_count;
    struct str payment;   /* as in the API: see order_payment(); empty: none */
    int64_t pay_until_us; /* microseconds since 1970; -1: cannot be paid (any more) */
};

enum order_outcome {
    ORDER_FOUND,             /* returned */
    ORDER_PLACED,            /* a new order, committed */
    ORDER_REPLAYED,          /* the order that this key placed before; nothing was written */
    ORDER_NONE,              /* the member has no such order */
    ORDER_KEY_REUSED,        /* the key placed an order from a different request */
    ORDER_CLAIM_RELEASED,    /* the claim was settled in the meantime */
    ORDER_ADMISSION_SPENT,   /* the entry token was spent before: see placement.spent */
    ORDER_INCARNATION,       /* Redis lost its data since the claim */
    ORDER_EPOCH,             /* the queue was reset since the claim: its token is void */
    ORDER_OUT_OF_STOCK,      /* see placement.sku */
    ORDER_UNKNOWN_SKU,       /* not sold through this queue: see placement.sku */
    ORDER_CURRENCIES_DIFFER, /* its items are priced in more than one currency */
    ORDER_TOTAL_TOO_LARGE,   /* beyond 2^53 - 1 minor units */
    ORDER_SEATS_TAKEN,       /* another order has them: see placement.seats */
    ORDER_UNKNOWN_SEAT,      /* not in the plan of the show: see placement.seats */
    ORDER_TOO_MANY_SEATS,    /* with those ordered before: see placement.most_seats */
    ORDER_SHOW_GONE,         /* no such show is sold through this queue */
    ORDER_QUEUE_GONE,        /* no such queue */
    ORDER_UNAVAILABLE,       /* PostgreSQL cannot do it now; it certainly did not happen */
    ORDER_UNKNOWN,           /* no answer: it may have happened, or may yet happen */
    ORDER_FAILED             /* refused because of a defect; logged; it did not happen */
};

/** An order request. All text is borrowed. */
struct order_request {
    struct str key;         /* idempotency key, 1..255 printable characters */
    struct str fingerprint; /* hash of the request in canonical form */
    /* 1..ORDER_ITEMS_MAX items, each SKU once, valid slugs; or none, and seats instead. */
    const struct order_item *items;
    size_t item_count;
    struct str show;         /* the show whose seats are wanted, a valid slug; empty for items */
    const struct str *seats; /* 1..ORDER_SEATS_MAX, each once, valid ids */
    size_t seat_count;
    int64_t ttl_seconds; /* until it expires unpaid, ≥ 1 */
};

/** The result of an order's transaction. */
struct order_placement {
    struct order order;   /* for PLACED and REPLAYED */
    struct str admission; /* for REPLAYED: the admission that the order spent, maybe another one */
    bool took_last;       /* for PLACED: an item is out of stock now; for seats: it may be */
    struct str sku;       /* for OUT_OF_STOCK and UNKNOWN_SKU */
    const struct str *seats; /* for SEATS_TAKEN and UNKNOWN_SEAT: the ones concerned, by id */
    size_t seat_count;
    int64_t most_seats;         /* for TOO_MANY_SEATS: what a member may have of the show */
    struct claim_spender spent; /* for ADMISSION_SPENT */
    int64_t outbox_row;         /* for PLACED: see outbox_acks_add() */
};

/** Sets up `call` as the transaction that places the order of `claim`, which is CLAIMED; its
 *  parameters are in the arena. When it PLACES the order, it also deletes rows of `acks`. Each
 *  prepared call must be sent and read. */
void order_place_prepare(struct arena *arena, const struct claim *claim,
                         const struct order_request *request, struct outbox_acks *acks,
                         struct postgres_call *call);

/** Reads the finished `call`: PLACED, REPLAYED, or a refusal after which nothing was written. After
 *  PLACED of seats, and after SEATS_TAKEN, the seats' states must be published to Redis
 *  (lib/database/seats/seat_publication.h). After a deadlock or a serialization failure it is
 *  retried once, here. After ORDER_UNKNOWN the claim must not be released: reconcile settles it. */
enum order_outcome order_place_read(struct postgres *postgres, struct arena *arena,
                                    struct postgres_call *call, struct outbox_acks *acks,
                                    struct order_placement *placement);

/** True for text in the form of an order id. */
bool order_id_is_valid(struct str id);

/** The order `id` (valid) of `member`: FOUND, NONE, UNAVAILABLE, or FAILED. */
enum order_outcome order_find(struct postgres *postgres, struct arena *arena, struct str member,
                              struct str id, struct order *order);

/** The order that `key` of `member` placed: FOUND, NONE, KEY_REUSED if the request had another
 *  fingerprint, UNAVAILABLE, or FAILED. */
enum order_outcome order_by_key(struct postgres *postgres, struct arena *arena, struct str member,
                                struct str key, struct str fingerprint, struct order *order);

struct order_page {
    const struct order *orders; /* newest first */
    size_t count;
    struct str next; /* the cursor of the next page, empty on the last one */
};

/** True for a well-formed cursor of an order_page. */
bool order_cursor_is_valid(struct str cursor);

/** A page of at most `limit` (1..100) orders of `member`. `cursor`: valid, or empty for the first
 *  page. FOUND, UNAVAILABLE, or FAILED. */
enum order_outcome order_list(struct postgres *postgres, struct arena *arena, struct str member,
                              int64_t limit, struct str cursor, struct order_page *page);

struct expired_order {
    struct str id;
    struct str queue;
    struct str member;
    bool place_held; /* until now; the outbox releases it */
};

/** Ends at most `limit` (≥ 1) unpaid orders whose time to pay has passed and returns their stock.
 *  Safe to run concurrently. FOUND (`*expired` and `*count`, 0 when none was due), UNAVAILABLE,
 *  UNKNOWN, or FAILED. */
enum order_outcome orders_expire(struct postgres *postgres, struct arena *arena, int64_t limit,
                                 const struct expired_order **expired, size_t *count);

/** Whether `queue` exists in PostgreSQL: distinguishes a queue that never existed from one that
 *  Redis has lost. FOUND, NONE, UNAVAILABLE, or FAILED. */
enum order_outcome order_queue_known(struct postgres *postgres, struct arena *arena,
                                     struct str queue);

#endif
