/*
 * payment_flow — a payment's way between the provider and PostgreSQL, for routes and for reconcile
 * alike. The provider is called between transactions, never within one. Each step is recorded
 * before the next is taken, so that whatever is cut off here can be finished by
 * payment_flow_settle(), by anybody.
 */
#ifndef SLUICE_PAYMENTS_PAYMENT_FLOW_H
#define SLUICE_PAYMENTS_PAYMENT_FLOW_H

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/orders/payment_store.h"
#include "lib/payments/payment_provider.h"
#include "lib/settings/settings.h"
#include "lib/store/postgres.h"
#include "lib/store/redis.h"

/** What it works with; all borrowed. */
struct payment_flow {
    const struct settings *settings;
    struct postgres *postgres;
    struct redis *redis;               /* may be away: the outbox tells it later */
    struct payment_provider *provider; /* NULL where payment_provider is none */
};

/** How long one call of the provider and what belongs to it may take, in seconds, rounded up. */
int64_t payment_flow_wait_seconds(const struct settings *settings);

/** How long payment_flow_settle() may take, in seconds, rounded up. */
int64_t payment_flow_settle_seconds(const struct settings *settings);

struct payment_start {
    bool is_new;             /* false: the one that is open already */
    struct str redirect_url; /* where the member pays */
    int64_t expires_us;      /* when the provider's session ends; microseconds since 1970 */
    struct str order_status; /* for NOT_PAYABLE */
};

enum payment_started {
    PAYMENT_STARTED_OK,
    PAYMENT_STARTED_NO_ORDER,
    PAYMENT_STARTED_IN_PROGRESS,
    PAYMENT_STARTED_NOT_PAYABLE,
    PAYMENT_STARTED_NO_PROVIDER, /* it did not answer, or refuses us: later perhaps */
    PAYMENT_STARTED_NO_STORE,    /* PostgreSQL did not answer */
    PAYMENT_STARTED_FAILED       /* a defect; logged */
};

/** Begins to pay `order` (valid) of `member`, on the provider's page for phones where `mobile`. */
enum payment_started payment_flow_start(const struct payment_flow *flow, struct arena *arena,
                                        struct str member, struct str order, bool mobile,
                                        struct payment_start *start);

/** What the member who comes back is to be told. */
enum payment_returned_as {
    PAYMENT_RETURNED_PAID,
    PAYMENT_RETURNED_CONFIRMING,
    PAYMENT_RETURNED_REFUSED,     /* nothing was taken: declined, or too late */
    PAYMENT_RETURNED_REFUNDED,    /* it was taken, and is given back */
    PAYMENT_RETURNED_STOPPED,     /* canceled or failed there; nothing was taken */
    PAYMENT_RETURNED_UNAVAILABLE, /* nothing was taken; the same payment may be tried again */
    PAYMENT_RETURNED_FORBIDDEN,   /* not the state of a payment of this order: nothing changed */
    PAYMENT_RETURNED_NO_STORE     /* PostgreSQL did not answer: come back again */
};

/** The browser came back to approve_url of `order` (valid), with `state`, which may be anything. */
enum payment_returned_as payment_flow_approve(const struct payment_flow *flow, struct arena *arena,
                                              struct str order, struct str state,
                                              const struct payment_return *back);

/** The same for cancel_url (`failed` false) and fail_url. */
enum payment_returned_as payment_flow_stop(const struct payment_flow *flow, struct arena *arena,
                                           struct str order, struct str state, bool failed);

/** Gives the payment `id`, which is CANCEL_REQUESTED, back, as far as the provider lets us now.
 *  DONE: it is CANCELED now, or PAID again, as `effect` has it. STALE: it was not to be given
 *  back (any more). After anything else it still is, and reconcile goes on. */
enum payment_stored payment_flow_refund(const struct payment_flow *flow, struct arena *arena,
                                        struct str id, struct payment_effect *effect);

/** What a look at a payment came to. */
enum payment_settled {
    PAYMENT_SETTLED_DONE,  /* it went on, or needs nothing more */
    PAYMENT_SETTLED_WAITS, /* not decided yet at the provider: looked at again later */
    PAYMENT_SETTLED_OPEN, /* the provider or PostgreSQL gave no answer, or one that does not fit; noted */
    PAYMENT_SETTLED_NO_STORE /* PostgreSQL did not answer at all */
};

/** Looks a payment that payments_due() gave up at the provider, and finishes what can be
 *  finished. Safe to be done by several at once. */
enum payment_settled payment_flow_settle(const struct payment_flow *flow, struct arena *arena,
                                         const struct payment_row *row);

#endif
