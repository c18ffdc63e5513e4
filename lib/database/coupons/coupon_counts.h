/*
 * coupon_counts — a queue's coupon events as PostgreSQL's rows have them, for reconcile to compare
 * with Redis. Query after Redis was read: coupons are issued and never taken back, so PostgreSQL
 * must then have everything that Redis has.
 */
#ifndef SLUICE_ORDERS_COUPON_COUNTS_H
#define SLUICE_ORDERS_COUPON_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/postgres.h"

/** Of one event. Text lives as long as the arena. */
struct coupon_count {
    struct str event;
    struct str record; /* what Redis must have of it */
    int64_t issued;
    int64_t unpublished; /* of those: still in the outbox */
};

/** The events of `queue` that Redis has to know, at most COUPON_EVENTS_MAX. POSTGRES_OK fills
 *  `*counts` and `*count`. */
enum postgres_outcome coupon_counts(struct postgres *postgres, struct arena *arena,
                                    struct str queue, const struct coupon_count **counts,
                                    size_t *count);

/** POSTGRES_OK sets `owns[i]`: whether `members[i]` has a coupon of `event`. */
enum postgres_outcome coupon_owners_of(struct postgres *postgres, struct arena *arena,
                                       struct str event, const struct str *members, size_t count,
                                       bool *owns);

#endif
