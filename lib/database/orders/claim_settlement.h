/*
 * claim_settlement — settles claims whose lease has expired, which PostgreSQL alone decides, and
 * deletes old ones.
 */
#ifndef SLUICE_ORDERS_CLAIM_SETTLEMENT_H
#define SLUICE_ORDERS_CLAIM_SETTLEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/postgres.h"

/** How a claim ended. Text lives as long as the arena. */
struct settlement {
    bool committed;   /* false: it is released now, and its order can never commit */
    struct str order; /* this and the rest are for a committed one: what claim_consume() needs */
    struct str queue;
    struct str member;
    struct str admission;
    struct str key_hash;
    bool keep_place;  /* the order is unpaid and holds its place */
    struct str event; /* the coupon event that the coupon is of; empty for an order */
};

/** Settles `claim_id`: marks it released, unless its order has committed. Waits for a transaction
 *  of the claim that is running; one that has not begun will fail. Idempotent. POSTGRES_OK fills
 *  `settlement`; after anything else the result is unknown: try again later (POSTGRES_REFUSED: the
 *  transaction took longer than lock_timeout). */
enum postgres_outcome claim_settle(struct postgres *postgres, struct arena *arena,
                                   struct str claim_id, struct settlement *settlement);

/** Deletes at most `most` claims, each with the admission that it spent, that are older than `days`
 *  (≥ 32) days by PostgreSQL's clock and by Redis' (now at `redis_ms`); `*count` gets how many.
 *  The caller must know that no claim is left to be settled. */
enum postgres_outcome claims_forget(struct postgres *postgres, struct arena *arena, int64_t days,
                                    int64_t redis_ms, int64_t most, int64_t *count);

#endif
