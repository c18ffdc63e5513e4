/*
 * outbox_store — the outbox: what Redis still has to be notified of after commits (orders, stock,
 * concerts). A row may be delivered more than once.
 */
#ifndef SLUICE_ORDERS_OUTBOX_STORE_H
#define SLUICE_ORDERS_OUTBOX_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/postgres.h"

enum outbox_kind {
    OUTBOX_CONSUME,    /* the entry token is spent: claim_consume() */
    OUTBOX_FREE_PLACE, /* an unpaid order has ended: place_free() */
    OUTBOX_SEATS,      /* something became of an order's seats: order_seats_publish() */
    OUTBOX_SOLD_OUT,   /* stock reached 0 or rose from it: availability_publish() */
    OUTBOX_CONCERT     /* a concert was stored: catalog_concert_changed() */
};

/** One row. Text lives as long as the arena. */
struct outbox_row {
    int64_t id;
    enum outbox_kind kind;
    struct str queue;   /* empty for CONCERT */
    struct str concert; /* empty for all others */
    struct str member;  /* empty for SOLD_OUT and CONCERT, like order */
    struct str order;
    struct str admission; /* this and the following are for CONSUME */
    struct str key_hash;
    struct str event; /* the coupon event whose coupon the token got; empty for an order */
    bool keep_place;  /* the order is still unpaid and holds its place */
    int64_t attempts; /* how often it was taken, this time included */
};

/** Takes at most `limit` (≥ 1) rows, oldest first; CONSUME rows only once they are `age_ms` (≥ 0)
 *  old, since until then the process that wrote them is expected to deliver and delete them. A
 *  taken row is leased for 10 s, longer after each attempt, so that concurrent runs do not deliver
 *  it twice; a row not deleted by outbox_done() is returned again later. POSTGRES_OK fills `*rows`
 *  and `*count`. */
enum postgres_outcome outbox_take(struct postgres *postgres, struct arena *arena, int64_t limit,
                                  int64_t age_ms, const struct outbox_row **rows, size_t *count);

/** Deletes the `count` rows of these ids, which were delivered. */
enum postgres_outcome outbox_done(struct postgres *postgres, struct arena *arena,
                                  const int64_t *ids, size_t count);

#endif
