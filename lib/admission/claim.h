/*
 * claim — holding an entry token for the length of an order's transaction: claim, then consume
 * after the commit or release after a rollback. Used by the order pool and by reconcile.
 */
#ifndef SLUICE_ADMISSION_CLAIM_H
#define SLUICE_ADMISSION_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/admission/outcome.h"
#include "lib/base/arena.h"
#include "lib/base/digest.h"
#include "lib/base/random.h"
#include "lib/base/str.h"
#include "lib/store/redis.h"

/** One attempt to spend an entry token. */
struct claim {
    struct str queue;  /* borrowed */
    struct str member; /* borrowed */
    struct str event;  /* the coupon event that the token is for, borrowed; empty for an order */
    struct str show;   /* borrowed; empty unless seats_claim() took it */
    struct str load;   /* field of order_load.h that its end is counted in; empty: not counted */
    char admission[SHA256_TEXT + 1]; /* SHA-256 of the entry token: its public name */
    char id[RANDOM_ID_TEXT + 1];     /* of this attempt */
    char key_hash[SHA256_TEXT + 1];  /* SHA-256 of the idempotency key; "" without one */
    /* Filled by claim_take() for CLAIMED: */
    int64_t lease_ms;
    int64_t seq;
    int64_t epoch;
    int64_t incarnation;
    bool place_until_payment; /* releaseOn payment: an unpaid order keeps the place */
    bool queue_deleted; /* for NOT_FOUND: there was such a queue, and Redis knows that it is gone */
    bool show_unknown;  /* for NOT_FOUND: the queue is there, the show is not loaded */
    /* For CLAIMED and SOLD_OUT, of a coupon event; -1 where Redis does not know it: */
    int64_t coupons;
    int64_t issued; /* for CLAIMED only */
    /* For REPLAY: */
    struct str order; /* the order that this very token and key made, borrowed from the arena */
};

/** What a token was spent on, for claim_consume(). All text is borrowed. */
struct claim_spender {
    struct str by; /* an order or a coupon */
    struct str key_hash;
    bool keep_place;
};

/** Prepares a claim: hashes the token and the key, gives it an id. `key` may be empty. */
void claim_prepare(struct claim *claim, struct str queue, struct str member, struct str entry_token,
                   struct str key);

/** Takes the token for the queue's claimLeaseSeconds, for `least_lease_ms` (a transaction and
 *  its repeat) at least: CLAIMED, REPLAY, or a refusal. Of a coupon event also SOLD_OUT, as
 *  PostgreSQL has found, or ALREADY: the member has one; the token stays as it is.
 *  ADMISSION_UNAVAILABLE: Redis gave no answer, so the token may be claimed; reconcile settles
 *  it after the lease. */
enum outcome claim_take(struct redis *redis, struct arena *arena, struct claim *claim,
                        int64_t least_lease_ms);

/** Reads the reply of claim.lua, or of a script that adds to it, into `claim`. */
enum outcome claim_read(const redisReply *reply, struct claim *claim);

/** Spends the token after the commit, and puts down that the member has a coupon of
 *  `claim->event`, if any; repeating it is harmless. `keep_place`: the order is not paid yet and
 *  its place stays taken until place_free(). CONSUMED, ALREADY, or ADMISSION_UNAVAILABLE. */
enum outcome claim_consume(struct redis *redis, struct arena *arena, const struct claim *claim,
                           struct str order, int64_t tombstone_ms, bool keep_place);

/** Gives the token back after a rollback, and with claim->show the holds as they were. RELEASED,
 *  NOT_CLAIMED, or ADMISSION_UNAVAILABLE. */
enum outcome claim_release(struct redis *redis, struct arena *arena, const struct claim *claim);

/** The payment of `order` has ended: its member's place is free. FREED, ALREADY, or
 *  ADMISSION_UNAVAILABLE. */
enum outcome place_free(struct redis *redis, struct arena *arena, struct str queue,
                        struct str member, struct str order);

/** What PostgreSQL has found of a queue's goods. */
struct goods_finding {
    int64_t change; /* number of the finding, rising per queue: Redis ignores an older one */
    bool sold_out;
    int64_t due_ms;     /* when all that is left will be over, since 1970; 0: never, or not known */
    bool with_events;   /* whether the finding says what coupon events there are */
    struct str coupons; /* `event record event record …` (see lua/include/coupons.lua), borrowed */
};

/** Carries it to Redis: SET, OLDER, NOT_FOUND for a queue that Redis does not know and that is
 *  not about to come back, or ADMISSION_UNAVAILABLE. */
enum outcome sold_out_set(struct redis *redis, struct arena *arena, struct str queue,
                          const struct goods_finding *finding);

/** The order pool's sign of life; without it nobody is promoted. A pause of more than
 *  `silence_ms` since the last one is put down as an outage; 0: never. */
enum outcome order_pool_beat(struct redis *redis, struct arena *arena, int64_t silence_ms);

#endif
