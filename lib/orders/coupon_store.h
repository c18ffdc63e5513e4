/*
 * coupon_store — first-come coupons in PostgreSQL: events, their pools, who got what. Each call is
 * one statement; the statements are in sql/queries/, the rules in sql/migrations/0010_coupons.sql.
 * Text in results is borrowed from the answer, which lives as long as the arena. Times are ms since
 * 1970.
 */
#ifndef SLUICE_ORDERS_COUPON_STORE_H
#define SLUICE_ORDERS_COUPON_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/admission/claim.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/orders/audit_store.h"
#include "lib/orders/outbox_acks.h"
#include "lib/store/postgres.h"

enum {
    COUPON_CODE_MAX = 64,       /* printable ASCII characters without spaces, ≥ 1 */
    COUPON_EVENT_NAME_MAX = 200 /* characters */
};

/** A time that is not set. */
#define COUPON_NO_TIME INT64_C(-1)

enum coupon_outcome {
    COUPON_FOUND,     /* here it is; also: stored */
    COUPON_CREATED,   /* stored, and new */
    COUPON_NO_SUCH,   /* there is none */
    COUPON_ISSUED,    /* a new one, committed */
    COUPON_ALREADY,   /* the member's own of before; nothing was written */
    COUPON_NONE_FREE, /* nothing to take at this moment: coupons_left() tells whether for good */
    COUPON_NOT_OPEN,  /* by the server's clock */
    COUPON_ENDED,     /* by the server's clock */
    COUPON_CLAIM_RELEASED,  /* the claim was settled while this was on its way */
    COUPON_ADMISSION_SPENT, /* the entry token has bought something already: see coupon.spent */
    COUPON_INCARNATION,     /* Redis lost its memory since the claim */
    COUPON_EPOCH,           /* the queue was reset since the claim: its token is void */
    COUPON_QUEUE_GONE,      /* no such queue */
    COUPON_QUEUE_FIXED,     /* some are issued, so the event stays with its queue */
    COUPON_EVENT_GONE,      /* no such event */
    COUPON_EVENT_MOVED,     /* the event is another queue's by now */
    COUPON_UNAVAILABLE,     /* PostgreSQL cannot do it now; it certainly did not happen */
    COUPON_UNKNOWN,         /* no answer: it may have happened, or may yet happen */
    COUPON_FAILED           /* refused for a reason that is a defect; logged; it did not happen */
};

struct coupon_event {
    struct str id;
    struct str name; /* 1..COUPON_EVENT_NAME_MAX characters, UTF-8, without control characters */
    struct str queue;
    struct str captcha; /* "none", "altcha" or "siteverify" */
    int64_t opens_ms;   /* COUPON_NO_TIME: at once */
    int64_t ends_ms;    /* COUPON_NO_TIME: never */
    /* What follows is PostgreSQL's to say. */
    int64_t created_ms;
    int64_t updated_ms;
    int64_t now_ms;
    int64_t issued; /* both only where they were asked for */
    int64_t left;
};

/** How to look for one. */
struct coupon_search {
    int64_t behind; /* first behind the coupon of this number; 0: from the beginning */
    bool count;     /* say whether few are left, which costs a look at them */
};

struct coupon {
    struct str id; /* c_…, what Redis and the claims know it by; says nothing about the code */
    struct str code;
    struct str admission; /* that it was got with */
    int64_t issued_ms;
    bool few_left;              /* for ISSUED: coupons_left() must be asked now */
    int64_t number;             /* for ISSUED: see coupon_search.behind */
    int64_t outbox_row;         /* for ISSUED: see outbox_acks_add() */
    struct claim_spender spent; /* for ADMISSION_SPENT */
};

/** Makes `call` the transaction that issues a coupon of `event` to the member of `claim`, which
 *  is CLAIMED; its parameters are in the arena. With ISSUED it deletes rows of `acks`. Each call
 *  that is prepared must be sent and read. */
void coupon_issue_prepare(struct arena *arena, const struct claim *claim, struct str event,
                          const struct coupon_search *search, struct outbox_acks *acks,
                          struct postgres_call *call);

/** What the finished `call` came to: ISSUED, ALREADY, or a refusal after which nothing was
 *  written. A deadlock or a serialization failure is tried once more, here. After UNKNOWN the
 *  claim must not be released: reconcile settles it. */
enum coupon_outcome coupon_issue_read(struct postgres *postgres, struct arena *arena,
                                      struct postgres_call *call, struct outbox_acks *acks,
                                      struct coupon *coupon);

/** What stands for an idempotency key where a token is spent on a coupon of `event`, in the
 *  arena: the same for every request, so that the spent token finds its coupon again. No key of
 *  an order looks like it. */
struct str coupon_key(struct arena *arena, struct str event);

/** The coupon of `member`: FOUND, NO_SUCH, UNAVAILABLE, or FAILED. */
enum coupon_outcome coupon_find(struct postgres *postgres, struct arena *arena, struct str event,
                                struct str member, struct coupon *coupon);

/** Whether any coupon of `event` is unissued, one that a running transaction has taken included,
 *  seen in a snapshot of its own: FOUND or NO_SUCH, UNAVAILABLE, or FAILED. */
enum coupon_outcome coupons_left(struct postgres *postgres, struct arena *arena, struct str event);

/** The event `id`: FOUND, NO_SUCH, UNAVAILABLE, or FAILED. `counted`: with `issued` and `left`,
 *  which takes the longer the more coupons there are. */
enum coupon_outcome coupon_event_find(struct postgres *postgres, struct arena *arena, struct str id,
                                      bool counted, struct coupon_event *event);

/** Creates the event or replaces what is said of it: CREATED, FOUND, QUEUE_GONE, QUEUE_FIXED,
 *  UNAVAILABLE, UNKNOWN, or FAILED. Afterwards availability_publish() for its queue (the outbox
 *  does it too). */
enum coupon_outcome coupon_event_put(struct postgres *postgres, struct arena *arena,
                                     const struct coupon_event *event,
                                     const struct change_author *author);

/** Adds `count` coupons (valid codes, each once) to the event, to go out in this order; those
 *  that it has already stay as they are: `*known` and `*known_count` get their codes. FOUND,
 *  UNAVAILABLE, UNKNOWN, or FAILED; the last three add none. */
enum coupon_outcome coupons_add(struct postgres *postgres, struct arena *arena, struct str event,
                                const struct str *codes, size_t count, const struct str **known,
                                size_t *known_count);

/** Notes in the audit that so many coupons are about to be added. */
enum postgres_outcome coupons_note(struct postgres *postgres, struct arena *arena,
                                   const struct change_author *author, struct str event,
                                   size_t count, bool generated);

/** True for a code that a coupon may have. */
bool coupon_code_is_valid(struct str code);

struct coupon_owner {
    struct str member;
    struct str code;
    int64_t issued_ms;
    int64_t epoch; /* of the queue, and the number in it, that it was got with */
    int64_t seq;
};

/** At most `limit` (≥ 1) issued coupons of `event` by member, behind `after` (empty: from the
 *  first on): FOUND, UNAVAILABLE, or FAILED. */
enum coupon_outcome coupons_page(struct postgres *postgres, struct arena *arena, struct str event,
                                 struct str after, int64_t limit,
                                 const struct coupon_owner **owners, size_t *count);

/** How an event went, without saying who got what. */
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
