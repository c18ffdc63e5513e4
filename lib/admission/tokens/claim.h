/*
 * claim — claims an entry token for the duration of an order's transaction: claim, then consume
 * after the commit or release after a rollback. Used by the order pool and by reconcile.
 */
#ifndef SLUICE_ADMISSION_CLAIM_H
#define SLUICE_ADMISSION_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
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
    struct str load;   /* field of order_load.h in which its end is counted; empty: not counted */
    char admission[SHA256_TEXT + 1]; /* admission id: SHA-256 of the entry token */
    char id[RANDOM_ID_TEXT + 1];     /* of this attempt */
    char key_hash[SHA256_TEXT + 1];  /* SHA-256 of the idempotency key; "" without one */
    /* Filled by claim_take() for CLAIMED: */
    int64_t lease_ms;
    int64_t seq;
    int64_t epoch;
    int64_t incarnation;
    bool place_until_payment; /* releaseOn payment: an unpaid order keeps the place */
    bool queue_deleted;       /* for NOT_FOUND: Redis has a record that this queue was deleted */
    bool show_unknown;        /* for NOT_FOUND: the queue exists, the show is not loaded */
    /* For CLAIMED and SOLD_OUT, of a coupon event; -1 if unknown to Redis: */
    int64_t coupons;
    int64_t issued; /* for CLAIMED only */
    /* For REPLAY: */
    struct str order; /* the order placed with the same token and key; lives in the arena */
};

/** What a token was spent on, for claim_consume(). All text is borrowed. */
struct claim_spender {
    struct str by; /* an order or a coupon */
    struct str key_hash;
    bool keep_place;
};

/** Prepares a claim: hashes the token and the key and gives it an id. `key` may be empty. */
void claim_prepare(struct claim *claim, struct str queue, struct str member, struct str entry_token,
                   struct str key);

/** Claims the token for the queue's claimLeaseSeconds, but at least for `least_lease_ms` (the
 *  longest duration of a transaction and its retry): CLAIMED, REPLAY, or a refusal. Of a coupon
 *  event also SOLD_OUT, as found by PostgreSQL, or ALREADY (the member has one); the token is then
 *  unchanged. ADMISSION_UNAVAILABLE: Redis did not answer, so the token may be claimed; reconcile
 *  settles it after the lease. */
enum outcome claim_take(struct redis *redis, struct arena *arena, struct claim *claim,
                        int64_t least_lease_ms);

/** Reads the reply of claim.lua, or of a script that adds to it, into `claim`. */
enum outcome claim_read(const redisReply *reply, struct claim *claim);

/** Spends the token after the commit, and records that the member has a coupon of `claim->event`,
 *  if any. Idempotent. `keep_place`: the order is unpaid and keeps its place until place_free().
 *  CONSUMED, ALREADY, or ADMISSION_UNAVAILABLE. */
enum outcome claim_consume(struct redis *redis, struct arena *arena, const struct claim *claim,
                           struct str order, int64_t tombstone_ms, bool keep_place);

/** Returns the token after a rollback, and with claim->show also the holds as they were. RELEASED,
 *  NOT_CLAIMED, or ADMISSION_UNAVAILABLE. */
enum outcome claim_release(struct redis *redis, struct arena *arena, const struct claim *claim);

/** Reads at most `most` (≥ 1) claims of `queue` whose lease has expired into `*claims` (in the
 *  arena). OK, NOT_FOUND or ADMISSION_UNAVAILABLE. */
enum outcome claims_overdue(struct redis *redis, struct arena *arena, struct str queue,
                            int64_t most, struct claim **claims, size_t *count);

/** Frees the place of `order`, whose payment has ended. FREED, ALREADY, or
 *  ADMISSION_UNAVAILABLE. */
enum outcome place_free(struct redis *redis, struct arena *arena, struct str queue,
                        struct str member, struct str order);

#endif
