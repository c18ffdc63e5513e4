/*
 * payment_flow — the steps of a payment between the provider and PostgreSQL, for routes and for
 * reconcile. The provider is called between transactions, never within one. Each step is recorded
 * before the next begins, so that an interrupted payment can be finished by any process with
 * payment_flow_settle().
 */
#ifndef SLUICE_PAYMENTS_PAYMENT_FLOW_H
#define SLUICE_PAYMENTS_PAYMENT_FLOW_H

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/database/payments/payment_store.h"
#include "lib/payments/payment_provider.h"
#include "lib/settings/settings.h"
#include "lib/store/postgres.h"
#include "lib/store/redis.h"

/** The context of all calls; all borrowed. */
struct payment_flow {
    const struct settings *settings;
    struct postgres *postgres;
    struct redis *redis;               /* may be unavailable: the outbox then delivers later */
    struct payment_provider *provider; /* NULL if payment_provider is none */
};

/** Longest duration of one provider call with its transactions, in seconds, rounded up. */
int64_t payment_flow_wait_seconds(const struct settings *settings);

/** Longest duration of payment_flow_settle(), in seconds, rounded up. */
int64_t payment_flow_settle_seconds(const struct settings *settings);

struct payment_start {
    bool is_new;             /* false: a payment that was open already */
    struct str redirect_url; /* where the member pays */
    int64_t expires_us;      /* when the provider's session ends; microseconds since 1970 */
    struct str order_status; /* for NOT_PAYABLE */
};

enum payment_started {
    PAYMENT_STARTED_OK,
    PAYMENT_STARTED_NO_ORDER,
    PAYMENT_STARTED_IN_PROGRESS,
    PAYMENT_STARTED_NOT_PAYABLE,
    PAYMENT_STARTED_NO_PROVIDER, /* it did not answer, or refuses us: retry later */
    PAYMENT_STARTED_NO_STORE,    /* PostgreSQL did not answer */
    PAYMENT_STARTED_FAILED       /* a defect; logged */
};

/** Starts a payment of `order` (valid) of `member`; `mobile`: on the provider's page for phones. */
enum payment_started payment_flow_start(const struct payment_flow *flow, struct arena *arena,
                                        struct str member, struct str order, bool mobile,
                                        struct payment_start *start);

/** The result that the returning member is shown. */
enum payment_returned_as {
    PAYMENT_RETURNED_PAID,
    PAYMENT_RETURNED_CONFIRMING,
    PAYMENT_RETURNED_REFUSED,     /* nothing was taken: declined, or too late */
    PAYMENT_RETURNED_REFUNDED,    /* the money was taken and is being refunded */
    PAYMENT_RETURNED_STOPPED,     /* canceled or failed at the provider; nothing was taken */
    PAYMENT_RETURNED_UNAVAILABLE, /* nothing was taken; the same payment may be retried */
    PAYMENT_RETURNED_FORBIDDEN,   /* `state` matches no payment of this order: nothing changed */
    PAYMENT_RETURNED_NO_STORE     /* PostgreSQL did not answer: return again later */
};

/** Handles the browser's return to approve_url of `order` (valid) with `state`, unchecked text. */
enum payment_returned_as payment_flow_approve(const struct payment_flow *flow, struct arena *arena,
                                              struct str order, struct str state,
                                              const struct payment_return *back);

/** The same for cancel_url (`failed` false) and fail_url. */
enum payment_returned_as payment_flow_stop(const struct payment_flow *flow, struct arena *arena,
                                           struct str order, struct str state, bool failed);

/** Refunds the payment `id`, which is CANCEL_REQUESTED, as far as the provider allows now. DONE: it
 *  is CANCELED now, or PAID again, see `effect`. STALE: it was not to be refunded (any more). After
 *  anything else it still is, and reconcile continues. */
enum payment_stored payment_flow_refund(const struct payment_flow *flow, struct arena *arena,
                                        struct str id, struct payment_effect *effect);

/** The result of looking up and settling a payment. */
enum payment_settled {
    PAYMENT_SETTLED_DONE,  /* it advanced, or needs nothing more */
    PAYMENT_SETTLED_WAITS, /* undecided at the provider: to be looked up again later */
    PAYMENT_SETTLED_OPEN, /* the provider or PostgreSQL gave no or no consistent answer; recorded */
    PAYMENT_SETTLED_NO_STORE /* PostgreSQL did not answer at all */
};

/** Looks up a payment returned by payments_due() at the provider and completes what can be
 *  completed. Safe to run concurrently. */
enum payment_settled payment_flow_settle(const struct payment_flow *flow, struct arena *arena,
                                         const struct payment_row *row);

#endif
