/*
 * coupon_store — first-come coupons in PostgreSQL: events, their pools, who got which. Each call is
 * one statement; the statements are in sql/queries/, the rules in sql/migrations/0010_coupons.sql.
 * Text in results lives as long as the arena. Times are ms since 1970.
 */
#ifndef SLUICE_ORDERS_COUPON_STORE_H
#define SLUICE_ORDERS_COUPON_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/admission/tokens/claim.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/database/audit/audit_store.h"
#include "lib/database/outbox/outbox_acks.h"
#include "lib/store/postgres.h"

enum {
    COUPON_CODE_MAX = 64,       /* printable ASCII characters without spaces, ≥ 1 */
    COUPON_EVENT_NAME_MAX = 200 /* characters */
};

/** A time that is not set. */
#define COUPON_NO_TIME INT64_C(-1)

enum coupon_outcome {
    COUPON_FOUND,           /* returned; also: stored */
    COUPON_CREATED,         /* stored, and new */
    COUPON_NO_SUCH,         /* does not exist */
    COUPON_ISSUED,          /* a new one, committed */
    COUPON_ALREADY,         /* the member had one before; nothing was written */
    COUPON_NONE_FREE,       /* none can be taken now; coupons_left() tells whether ever */
    COUPON_NOT_OPEN,        /* by the server's clock */
    COUPON_ENDED,           /* by the server's clock */
    COUPON_CLAIM_RELEASED,  /* the claim was settled in the meantime */
    COUPON_ADMISSION_SPENT, /* the entry token was spent before: see coupon.spent */
    COUPON_INCARNATION,     /* Redis lost its data since the claim */
    COUPON_EPOCH,           /* the queue was reset since the claim: its token is void */
    COUPON_QUEUE_GONE,      /* no such queue */
    COUPON_QUEUE_FIXED,     /* coupons were issued, so the event cannot change its queue */
    COUPON_EVENT_GONE,      /* no such event */
    COUPON_EVENT_MOVED,     /* the event belongs to another queue by now */
    COUPON_UNAVAILABLE,     /* PostgreSQL cannot do it now; it certainly did not happen */
    COUPON_UNKNOWN,         /* no answer: it may have happened, or may yet happen */
    COUPON_FAILED           /* refused because of a defect; logged; it did not happen */
};

struct coupon_event {
    struct str id;
    struct str name; /* 1..COUPON_EVENT_NAME_MAX characters, UTF-8, without control characters */
    struct str queue;
    struct str captcha; /* "none", "altcha" or "siteverify" */
    int64_t opens_ms;   /* COUPON_NO_TIME: open from the start */
    int64_t ends_ms;    /* COUPON_NO_TIME: never */
    /* From here on set by PostgreSQL: */
    int64_t created_ms;
    int64_t updated_ms;
    int64_t now_ms;
    int64_t issued; /* this and the next only if requested */
    int64_t left;
};

/** How to pick a coupon. */
struct coupon_search {
    int64_t behind; /* search from behind the coupon of this number; 0: from the first */
    bool count;     /* set few_left, which costs reading some more rows */
};

struct coupon {
    struct str id; /* c_…, its id in Redis and in claims; independent of the code */
    struct str code;
    struct str admission; /* that was spent on it */
    int64_t issued_ms;
    bool few_left;              /* for ISSUED: coupons_left() must be called now */
    int64_t number;             /* for ISSUED: see coupon_search.behind */
    int64_t outbox_row;         /* for ISSUED: see outbox_acks_add() */
    struct claim_spender spent; /* for ADMISSION_SPENT */
};

/** Sets up `call` as the transaction that issues a coupon of `event` to the member of `claim`,
 *  which is CLAIMED; its parameters are in the arena. When it ISSUES, it also deletes rows of
 *  `acks`. Each prepared call must be sent and read. */
void coupon_issue_prepare(struct arena *arena, const struct claim *claim, struct str event,
                          const struct coupon_search *search, struct outbox_acks *acks,
                          struct postgres_call *call);

/** Reads the finished `call`: ISSUED, ALREADY, or a refusal after which nothing was written. After
 *  a deadlock or a serialization failure it is retried once, here. After UNKNOWN the claim must not
 *  be released: reconcile settles it. */
enum coupon_outcome coupon_issue_read(struct postgres *postgres, struct arena *arena,
                                      struct postgres_call *call, struct outbox_acks *acks,
                                      struct coupon *coupon);

/** The stand-in for an idempotency key when a token is spent on a coupon of `event`, in the arena.
 *  It is the same for every request, so that the spent token finds its coupon again, and no key of
 *  an order looks like it. */
struct str coupon_key(struct arena *arena, struct str event);

/** The coupon of `member`: FOUND, NO_SUCH, UNAVAILABLE, or FAILED. */
enum coupon_outcome coupon_find(struct postgres *postgres, struct arena *arena, struct str event,
                                struct str member, struct coupon *coupon);

/** Whether any coupon of `event` is unissued, those taken by running transactions included, by a
 *  snapshot of its own: FOUND or NO_SUCH, UNAVAILABLE, or FAILED. */
enum coupon_outcome coupons_left(struct postgres *postgres, struct arena *arena, struct str event);

/** The event `id`: FOUND, NO_SUCH, UNAVAILABLE, or FAILED. `counted`: with `issued` and `left`, at
 *  a cost that grows with the number of coupons. */
enum coupon_outcome coupon_event_find(struct postgres *postgres, struct arena *arena, struct str id,
                                      bool counted, struct coupon_event *event);

/** Creates the event or replaces its definition: CREATED, FOUND, QUEUE_GONE, QUEUE_FIXED,
 *  UNAVAILABLE, UNKNOWN, or FAILED. Call availability_publish() for its queue afterwards (the
 *  outbox does it too). */
enum coupon_outcome coupon_event_put(struct postgres *postgres, struct arena *arena,
                                     const struct coupon_event *event,
                                     const struct change_author *author);

/** Adds `count` coupons (valid, distinct codes) to the event, to be issued in this order. Codes
 *  that the event has already stay unchanged and are returned in `*known` and `*known_count`.
 *  FOUND, UNAVAILABLE, UNKNOWN, or FAILED; after the last three none was added. */
enum coupon_outcome coupons_add(struct postgres *postgres, struct arena *arena, struct str event,
                                const struct str *codes, size_t count, const struct str **known,
                                size_t *known_count);

/** Records in the audit log that `count` coupons are about to be added. */
enum postgres_outcome coupons_note(struct postgres *postgres, struct arena *arena,
                                   const struct change_author *author, struct str event,
                                   size_t count, bool generated);

/** True for a valid coupon code. */
bool coupon_code_is_valid(struct str code);

struct coupon_owner {
    struct str member;
    struct str code;
    int64_t issued_ms;
    int64_t epoch; /* of the queue; with seq, the place that it was issued to */
    int64_t seq;
};

/** Reads at most `limit` (≥ 1) issued coupons of `event`, ordered by member, that follow `after`
 *  (empty: from the first): FOUND, UNAVAILABLE, or FAILED. */
enum coupon_outcome coupons_page(struct postgres *postgres, struct arena *arena, struct str event,
                                 struct str after, int64_t limit,
                                 const struct coupon_owner **owners, size_t *count);

/** The outcome of an event, without member data. */
struct coupon_result {
    struct str event;
    struct str queue;
    int64_t opens_ms; /* COUPON_NO_TIME for none, as below */
    int64_t ends_ms;
    int64_t now_ms;
    int64_t first_ms; /* first and last issue */
    int64_t last_ms;
    int64_t issued;
    int64_t left;
    struct str served; /* numbers by epoch: "1:1-68,70-71 2:5-5", empty for none */
};

/** FOUND, NO_SUCH, UNAVAILABLE, or FAILED. */
enum coupon_outcome coupon_result_read(struct postgres *postgres, struct arena *arena,
                                       struct str event, struct coupon_result *result);

#endif
