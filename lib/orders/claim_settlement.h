/*
 * claim_settlement — PostgreSQL's last word on a claim whose lease has run out, and how long it is
 * remembered.
 */
#ifndef SLUICE_ORDERS_CLAIM_SETTLEMENT_H
#define SLUICE_ORDERS_CLAIM_SETTLEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/postgres.h"

/** How a claim ended. Text is borrowed from the answer, which lives as long as the arena. */
struct settlement {
    bool committed;   /* false: it is released now, and its order can never commit */
    struct str order; /* what follows is for a committed one: what claim_consume() needs */
    struct str queue;
    struct str member;
    struct str admission;
    struct str key_hash;
    bool keep_place;  /* the order is unpaid and holds its place */
    struct str event; /* the coupon event of which it has got one; empty for an order */
};

/** Settles `claim_id`: inserts it as released, unless its order has committed. Waits for its
 *  transaction where that runs; one that has not begun will fail. Repeating it gives the same.
 *  POSTGRES_OK fills `settlement`; after anything else it is not known, ask again later (a
 *  refusal: the transaction took longer than lock_timeout). */
enum postgres_outcome claim_settle(struct postgres *postgres, struct arena *arena,
                                   struct str claim_id, struct settlement *settlement);

/** Forgets claims older than `days` days (32 at least), by PostgreSQL's clock and by Redis's,
 *  where it is `redis_ms`, each with the admission that it has spent, `most` of them at most;
 *  `*count` gets how many. Only for a caller who knows that no claim is left to be settled. */
enum postgres_outcome claims_forget(struct postgres *postgres, struct arena *arena, int64_t days,
                                    int64_t redis_ms, int64_t most, int64_t *count);

#endif
