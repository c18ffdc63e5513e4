/*
 * coupon_counts — what PostgreSQL's rows say of a queue's coupon events, for reconcile to hold
 * against what Redis has heard. To be asked after Redis was read: coupons are issued and never
 * taken back, so whatever Redis knew by then must be there.
 */
#ifndef SLUICE_ORDERS_COUPON_COUNTS_H
#define SLUICE_ORDERS_COUPON_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/postgres.h"

/** Of one event. Text is borrowed from the answer. */
struct coupon_count {
    struct str event;
    struct str record; /* as Redis has to have it */
    int64_t issued;
    int64_t unpublished; /* of those: on their way to Redis by the outbox */
};

/** Those of `queue` that Redis is told of, at most COUPON_EVENTS_MAX. POSTGRES_OK fills
 *  `*counts` and `*count`. */
enum postgres_outcome coupon_counts(struct postgres *postgres, struct arena *arena,
                                    struct str queue, const struct coupon_count **counts,
                                    size_t *count);

/** POSTGRES_OK fills `owns[i]`: whether `members[i]` has a coupon of `event`. */
enum postgres_outcome coupon_owners_of(struct postgres *postgres, struct arena *arena,
                                       struct str event, const struct str *members, size_t count,
                                       bool *owns);

#endif
