/*
 * outbox_store — what Redis has yet to be told of committed orders and of concerts. Every row may
 * be carried out twice.
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
    OUTBOX_SOLD_OUT,   /* stock came to 0 or back from it: availability_publish() */
    OUTBOX_CONCERT     /* a concert was put: catalog_concert_changed() */
};

/** One row. Text is borrowed from the answer, which lives as long as the arena. */
struct outbox_row {
    int64_t id;
    enum outbox_kind kind;
    struct str queue;   /* empty for CONCERT */
    struct str concert; /* empty for all others */
    struct str member;  /* empty for SOLD_OUT and CONCERT, like order */
    struct str order;
    struct str admission; /* what follows is for CONSUME */
    struct str key_hash;
    struct str event; /* the coupon event of which the token has got one; empty for an order */
    bool keep_place;  /* the order is still unpaid and holds its place */
    int64_t attempts; /* how often it was taken, this time included */
};

/** Takes at most `limit` (≥ 1) rows, oldest first; of those that say a token is spent only the
 *  ones that are `age_ms` (≥ 0) old: until then whoever wrote them is expected to deliver and to
 *  delete them. Nobody else gets them for 10 s (more after each time), so running twice at once
 *  does no work twice; what is not deleted by outbox_done() comes again. POSTGRES_OK fills
 *  `*rows` and `*count`. */
enum postgres_outcome outbox_take(struct postgres *postgres, struct arena *arena, int64_t limit,
                                  int64_t age_ms, const struct outbox_row **rows, size_t *count);

/** These ids as the literal of a bigint[], in the arena. */
const char *outbox_list(struct arena *arena, const int64_t *ids, size_t count);

/** Strikes the `count` rows of these ids, which were carried out. */
enum postgres_outcome outbox_done(struct postgres *postgres, struct arena *arena,
                                  const int64_t *ids, size_t count);

#endif
