/*
 * payment_store — payments in PostgreSQL. Each call is one statement, so one round trip and one
 * transaction, and calls no provider; the rules are in sql/migrations/0013_payments.sql and
 * 0022_payment_looks.sql. Every function that records something compares the state that it finds
 * with the one it expects, so it may be called late or repeatedly.
 * Text in results lives as long as the arena.
 */
#ifndef SLUICE_ORDERS_PAYMENT_STORE_H
#define SLUICE_ORDERS_PAYMENT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/digest.h"
#include "lib/base/random.h"
#include "lib/base/str.h"
#include "lib/database/orders/order_store.h"
#include "lib/database/payments/payment_phase.h"
#include "lib/store/postgres.h"

enum { PAYMENT_ID_TEXT = 2 + RANDOM_ID_TEXT, PAYMENT_WHY_MAX = 200 };

/** Makes a new payment id: p_ and 22 characters. */
void payment_id_make(char out[PAYMENT_ID_TEXT + 1]);

/** True for text in the form of a payment id. */
bool payment_id_is_valid(struct str id);

/** The outcome of a call. */
enum payment_stored {
    PAYMENT_STORED_DONE,        /* done now */
    PAYMENT_STORED_SAME,        /* done before: nothing was written */
    PAYMENT_STORED_STALE,       /* the payment is in another state by now: nothing was written */
    PAYMENT_STORED_NONE,        /* no such payment, or this member has no such order */
    PAYMENT_STORED_ENDED,       /* payment_ready(): the order has ended, and the payment with it */
    PAYMENT_STORED_IN_PROGRESS, /* a payment of the order is being started or confirmed */
    PAYMENT_STORED_NOT_PAYABLE, /* payment_open(): not unpaid, or the time to pay has passed */
    PAYMENT_STORED_NOT_CANCELABLE, /* payment_order_cancel(): the order's status forbids it */
    PAYMENT_STORED_REFUND,      /* paid, but the order or the payment had ended: to be refunded */
    PAYMENT_STORED_MISMATCH,    /* the provider reports another amount than was due */
    PAYMENT_STORED_EARLY,       /* "not paid" does not count yet: to be looked up again later */
    PAYMENT_STORED_PARTIAL,     /* recorded: only a part was refunded */
    PAYMENT_STORED_UNAVAILABLE, /* PostgreSQL cannot do it now; it certainly did not happen */
    PAYMENT_STORED_UNKNOWN,     /* no answer: it may have happened, or may yet; may be repeated */
    PAYMENT_STORED_FAILED       /* refused because of a defect; logged; it did not happen */
};

/** A payment and its order after a call that found them. */
struct payment_effect {
    enum payment_phase phase;
    struct str order;
    struct str order_status; /* as in the API */
    struct str queue;
    struct str member;
    bool place_freed;        /* the order held its member's place until now */
    bool came_back;          /* something that was sold out is available again */
    int64_t session_ends_us; /* microseconds since 1970, -1: no session */
};

/** Whole minor units; `total` includes `vat`. */
struct payment_amounts {
    int64_t total;
    int64_t tax_free;
    int64_t vat;
    struct str currency;
};

struct payment_opening {
    struct str id; /* of the payment that is open, for DONE, SAME and IN_PROGRESS */
    struct str order_status;
    struct str redirect_url; /* for SAME */
    int64_t session_ends_us; /* likewise; microseconds since 1970 */
    struct payment_amounts amounts;
    struct str title; /* describes the order's content, 1..220 characters */
    int64_t quantity; /* ≥ 1 */
};

/** Starts a payment of the order `order` (valid) of `member` under the id `id`, which must be new.
 *  `return_hash`: SHA-256 of the state in its return URLs. A payment that has been STARTING for
 *  `wait_seconds` is replaced. DONE (it is STARTING: call the provider next), SAME (a READY one is
 *  still open), IN_PROGRESS, NOT_PAYABLE (`opening->order_status`), NONE, or an outcome of any
 *  call. */
enum payment_stored payment_open(struct postgres *postgres, struct arena *arena, struct str member,
                                 struct str order, struct str id, struct str provider,
                                 const char return_hash[SHA256_TEXT + 1], int64_t wait_seconds,
                                 struct payment_opening *opening);

/** The provider has opened a session: STARTING → READY. Extends the order to at least
 *  `session_seconds` + `grace_seconds` from now. DONE, SAME, ENDED, STALE. */
enum payment_stored payment_ready(struct postgres *postgres, struct arena *arena, struct str id,
                                  struct str ref, struct str redirect_url, int64_t session_seconds,
                                  int64_t grace_seconds, struct payment_effect *effect);

/** The payment could not be started: STARTING → FAILED; the order stays. DONE, SAME, STALE. */
enum payment_stored payment_start_failed(struct postgres *postgres, struct arena *arena,
                                         struct str id, struct str why,
                                         struct payment_effect *effect);

/** Finds the payment of `order` (valid) that `state` belongs to, comparing hashes in constant time.
 *  DONE (`*id`), NONE, UNAVAILABLE, FAILED. Nothing is written or locked. */
enum payment_stored payment_returned(struct postgres *postgres, struct arena *arena,
                                     struct str order, struct str state, struct str *id);

enum payment_turn {
    PAYMENT_TURN_GO,         /* APPROVING now: call the provider within wait_seconds */
    PAYMENT_TURN_PAID,       /* already paid (it may have been refunded since) */
    PAYMENT_TURN_CONFIRMING, /* another process is confirming it, or its outcome is unknown */
    PAYMENT_TURN_REFUSED     /* it or its order has ended: nothing may be taken */
};

struct payment_approval {
    enum payment_turn turn;
    int64_t number; /* how often it has been APPROVING; undo and in_doubt must name it */
    struct str ref;
    struct payment_amounts amounts;
    struct str member;
    struct str order_status;
};

/** READY → APPROVING for exactly one of all callers, if it is a payment of `provider`; extends
 *  the order to `wait_seconds` from now. DONE (see approval->turn), NONE. */
enum payment_stored payment_approve_begin(struct postgres *postgres, struct arena *arena,
                                          struct str id, struct str provider, int64_t wait_seconds,
                                          struct payment_approval *approval);

/** Certainly nothing was taken and the session remains open: APPROVING → READY. `alert`: mark it
 *  for an operator. DONE, STALE. */
enum payment_stored payment_approve_undo(struct postgres *postgres, struct arena *arena,
                                         struct str id, int64_t number, struct str why, bool alert,
                                         struct payment_effect *effect);

/** The provider gave no clear answer: APPROVING → UNKNOWN. DONE, SAME, STALE. */
enum payment_stored payment_in_doubt(struct postgres *postgres, struct arena *arena, struct str id,
                                     int64_t number, struct str why, struct payment_effect *effect);

/** What the provider reports as taken. */
struct payment_taken {
    struct str ref;
    struct str currency;
    int64_t total;
    int64_t canceled; /* refunded of it */
};

/** Records the provider's report that it is paid: compared with the amount due, then either the
 *  order is PAID or the money is to be refunded. DONE, SAME, REFUND, MISMATCH. */
enum payment_stored payment_paid(struct postgres *postgres, struct arena *arena, struct str id,
                                 const struct payment_taken *taken, struct str why,
                                 struct payment_effect *effect);

/** A report that nothing was taken. */
struct payment_not_taken {
    int64_t approvals;        /* when the provider was asked: says nothing about a later one */
    enum payment_phase phase; /* FAILED (ended there), EXPIRED (still open there, or timed out) */
    bool is_final;    /* looked up when "not paid" counts already, or the answer to an approval */
    bool is_answered; /* the provider says so; false: it does not, and nothing was in doubt */
};

/** Records that nothing was taken. `give_back`: the order ends too. DONE, SAME, EARLY, STALE. */
enum payment_stored payment_unpaid(struct postgres *postgres, struct arena *arena, struct str id,
                                   const struct payment_not_taken *report, bool give_back,
                                   struct str why, struct payment_effect *effect);

/** The member returned by the cancel or fail URL: READY → STOPPED; with `give_back` the order ends
 *  with status `order_status`. DONE, SAME, STALE. */
enum payment_stored payment_stop(struct postgres *postgres, struct arena *arena, struct str id,
                                 bool give_back, struct str order_status, struct str why,
                                 struct payment_effect *effect);

struct order_cancel {
    struct order order; /* as it is now */
    bool place_freed;
    bool came_back;
    struct str payment; /* now to be refunded by the caller; empty: none */
    struct str status;  /* for NOT_CANCELABLE: the order's */
};

/** Cancels the order `order` (valid) of `member`: see order_cancel() in
 *  sql/migrations/0013_payments.sql. DONE (also
 *  if it was canceled before or its refund is under way), NONE, NOT_CANCELABLE, IN_PROGRESS. */
enum payment_stored payment_order_cancel(struct postgres *postgres, struct arena *arena,
                                         struct str member, struct str order,
                                         struct order_cancel *cancel);

/** Records the provider's report that `canceled` was refunded: → CANCELED, and the goods are
 *  returned once. DONE, SAME, PARTIAL, STALE. */
enum payment_stored payment_canceled(struct postgres *postgres, struct arena *arena, struct str id,
                                     int64_t canceled, bool give_back, struct str why,
                                     struct payment_effect *effect);

/** The provider refuses the refund: PAID again if the order still has its goods. DONE, STALE. */
enum payment_stored payment_cancel_refused(struct postgres *postgres, struct arena *arena,
                                           struct str id, struct str why,
                                           struct payment_effect *effect);

/** Records a look-up without result, for support. DONE. */
enum payment_stored payment_note(struct postgres *postgres, struct arena *arena, struct str id,
                                 struct str error, bool needs_person);

/** A webhook announced news of a payment: schedules a look-up soon. One of `ref` and `payment` may
 *  be empty. DONE (`*id`), NONE. */
enum payment_stored payment_hinted(struct postgres *postgres, struct arena *arena,
                                   struct str provider, struct str ref, struct str payment,
                                   struct str *id);

/** A payment to look up, or to refund. */
struct payment_row {
    struct str id;
    struct str order;
    struct str provider;
    enum payment_phase phase;
    struct str ref; /* empty while STARTING */
    struct payment_amounts amounts;
    int64_t canceled;
    struct str member;
    bool is_final;     /* "not paid" counts, if looked up now */
    int64_t approvals; /* how often it has been APPROVING */
    int64_t attempts;  /* this one included; 0 from payment_find() */
    bool needs_person;
    bool in_doubt; /* ended, but an approval without a clear answer may have taken its money */
};

/** The payment `id`: DONE, NONE. */
enum payment_stored payment_find(struct postgres *postgres, struct arena *arena, struct str id,
                                 struct payment_row *row);

/** Takes at most `limit` (≥ 1) payments whose next look-up is due, leased for `lease_seconds`:
 *  concurrent callers get others, unless news of one arrives. From attempt `person_after` on
 *  a payment needs an operator. DONE (`*rows`, `*count`). */
enum payment_stored payments_due(struct postgres *postgres, struct arena *arena, int64_t limit,
                                 int64_t person_after, int64_t lease_seconds,
                                 const struct payment_row **rows, size_t *count);

#endif
