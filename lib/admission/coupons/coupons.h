/*
 * coupons — a queue's coupon events in Redis: how many coupons each has, who has one, whether
 * PostgreSQL has reported that all are gone. sold_out_set() publishes the events with each finding,
 * claim_consume() a new owner, reconcile the rest. Owners are a set of names, so publishing one
 * twice changes nothing.
 */
#ifndef SLUICE_ADMISSION_COUPONS_H
#define SLUICE_ADMISSION_COUPONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/admission/outcome.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis.h"

enum {
    COUPON_EVENTS_MAX = 500, /* of one queue, published to Redis */
    COUPON_OWNERS_PER_CALL = 1000
};

/** The state of an event, as far as Redis knows. */
struct coupon_standing {
    int64_t coupons; /* all of them */
    int64_t issued;  /* may exceed `coupons` for a moment after some were added */
    bool gone;       /* PostgreSQL found none unissued */
};

/** Reads it, in one round trip: OK, NOT_FOUND if Redis does not have the queue or the event, or
 *  ADMISSION_UNAVAILABLE. */
enum outcome coupon_standing_read(struct redis *redis, struct arena *arena, struct str queue,
                                  struct str event, struct coupon_standing *standing);

/** All that Redis knows of one event, for comparing. Text is borrowed from the reply. */
struct known_coupons {
    struct str event;
    struct str record; /* as PostgreSQL's coupon_record() has it; empty: Redis knows owners only */
    int64_t owners;
};

/** Reads at most twice COUPON_EVENTS_MAX events of `queue` into `*known` (in the arena): OK,
 *  NOT_FOUND or ADMISSION_UNAVAILABLE. `*change` gets the number of the finding that
 *  published them, 0 for none. */
enum outcome coupons_known(struct redis *redis, struct arena *arena, struct str queue,
                           int64_t *change, const struct known_coupons **known, size_t *count);

/** Adds these 0..COUPON_OWNERS_PER_CALL members to the owners of `event`, or removes them if `have`
 *  is false. Add only committed owners; remove only owners that PostgreSQL, queried after Redis was
 *  read, does not have. `*changed`: how many entries changed. Works before the queue is published.
 *  Returns false if Redis did not answer. */
bool coupon_owners_publish(struct redis *redis, struct arena *arena, struct str queue,
                           struct str event, bool have, const struct str *members, size_t count,
                           int64_t *changed);

/** Reads at most COUPON_OWNERS_PER_CALL owners of `event` that follow `after` (empty: from the
 *  first) into the arena. Returns false if Redis did not answer. */
bool coupon_owners_read(struct redis *redis, struct arena *arena, struct str queue,
                        struct str event, struct str after, const struct str **members,
                        size_t *count);

#endif
