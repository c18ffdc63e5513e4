/*
 * payment_store — payments in PostgreSQL. Each call is one statement, so one round trip and one
 * transaction, and calls no provider; the rules are in sql/migrations/0013_payments.sql. Every
 * record function compares the state that it finds with the one it expects, so that it may come
 * late, or twice.
 * Text in results is borrowed from the answer, which lives as long as the arena.
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
#include "lib/orders/order_store.h"
#include "lib/orders/payment_phase.h"
#include "lib/store/postgres.h"

enum { PAYMENT_ID_TEXT = 2 + RANDOM_ID_TEXT, PAYMENT_WHY_MAX = 200 };

/** A new payment id, p_ and 22 characters. */
void payment_id_make(char out[PAYMENT_ID_TEXT + 1]);

/** True for text that has the form of one. */
bool payment_id_is_valid(struct str id);

/** What came of a call. */
enum payment_stored {
    PAYMENT_STORED_DONE,        /* done now */
    PAYMENT_STORED_SAME,        /* it was so before: nothing was written */
    PAYMENT_STORED_STALE,       /* the payment has gone on meanwhile: nothing was written */
    PAYMENT_STORED_NONE,        /* there is no such payment, or no such order of this member */
    PAYMENT_STORED_ENDED,       /* payment_ready(): the order has, and the payment with it */
    PAYMENT_STORED_IN_PROGRESS, /* a payment of the order is being started or confirmed */
    PAYMENT_STORED_NOT_PAYABLE, /* payment_open(): not unpaid any more, or its time to pay is over */
    PAYMENT_STORED_NOT_CANCELABLE, /* payment_order_cancel(): the order's status does not allow it */
    PAYMENT_STORED_REFUND, /* taken there, and the order or the payment had ended: to be given back */
    PAYMENT_STORED_MISMATCH, /* what the provider says is not what was to be paid: a person looks */
    PAYMENT_STORED_EARLY,    /* "not paid" does not count yet: it is asked again later */
    PAYMENT_STORED_PARTIAL,  /* noted down: not all of it was given back */
    PAYMENT_STORED_UNAVAILABLE, /* PostgreSQL cannot do it now; it certainly did not happen */
    PAYMENT_STORED_UNKNOWN, /* no answer: it may have happened, or may yet; the same call may be made again */
    PAYMENT_STORED_FAILED /* refused for a reason that is a defect; logged; it did not happen */
};

/** A payment and its order after a call that found them. */
struct payment_effect {
    enum payment_phase phase;
    struct str order;
    struct str order_status; /* as in the API */
    struct str queue;
    struct str member;
    bool place_freed;        /* the order held its member's place until now */
    bool came_back;          /* something that was all gone is there again */
    int64_t session_ends_us; /* microseconds since 1970, -1: there is no session */
};

/** Whole minor units; `vat` is in `total`. */
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
    struct str title; /* what the order is of, 1..220 characters */
    int64_t quantity; /* ≥ 1 */
};

/** Begins to pay the order `order` (valid) of `member`, by the payment `id`, which must be new.
 *  `return_hash`: SHA-256 of the state in its return URLs. A payment that has been STARTING for
 *  `wait_seconds` is replaced. DONE (it is STARTING: ask the provider next), SAME (one that is
 *  READY lives), IN_PROGRESS, NOT_PAYABLE (`opening->order_status`), NONE, or what any call may
 *  bring. */
enum payment_stored payment_open(struct postgres *postgres, struct arena *arena, struct str member,
                                 struct str order, struct str id, struct str provider,
                                 const char return_hash[SHA256_TEXT + 1], int64_t wait_seconds,
                                 struct payment_opening *opening);

/** The provider has a session for it: STARTING → READY. The order lives from now on for
 *  `session_seconds` and `grace_seconds` at least. DONE, SAME, ENDED, STALE. */
enum payment_stored payment_ready(struct postgres *postgres, struct arena *arena, struct str id,
                                  struct str ref, struct str redirect_url, int64_t session_seconds,
                                  int64_t grace_seconds, struct payment_effect *effect);

/** It could not be started: STARTING → FAILED; the order stays. DONE, SAME, STALE. */
enum payment_stored payment_start_failed(struct postgres *postgres, struct arena *arena,
                                         struct str id, struct str why,
                                         struct payment_effect *effect);

/** Finds the payment of `order` (valid) that `state` belongs to: compared by hash, in constant
 *  time. DONE (`*id`), NONE, UNAVAILABLE, FAILED. Nothing is written or locked. */
enum payment_stored payment_returned(struct postgres *postgres, struct arena *arena,
                                     struct str order, struct str state, struct str *id);

enum payment_turn {
    PAYMENT_TURN_GO,         /* APPROVING now: tell the provider within the wait_seconds */
    PAYMENT_TURN_PAID,       /* it was paid before, whatever became of that since */
    PAYMENT_TURN_CONFIRMING, /* somebody is at it, or nobody knows */
    PAYMENT_TURN_REFUSED     /* it or its order has ended: nothing is to be taken */
};

struct payment_approval {
    enum payment_turn turn;
    int64_t number; /* of the times that it was APPROVING: the ways back name it */
    struct str ref;
    struct payment_amounts amounts;
    struct str member;
    struct str order_status;
};

/** READY → APPROVING for one of all who call, where it is a payment of `provider`; the order is
 *  lengthened by `wait_seconds` from now. DONE (see approval->turn), NONE. */
enum payment_stored payment_approve_begin(struct postgres *postgres, struct arena *arena,
                                          struct str id, struct str provider, int64_t wait_seconds,
                                          struct payment_approval *approval);

/** Certainly nothing was taken and the session goes on: APPROVING → READY. `alert`: a person is
 *  to look. DONE, STALE. */
enum payment_stored payment_approve_undo(struct postgres *postgres, struct arena *arena,
                                         struct str id, int64_t number, struct str why, bool alert,
                                         struct payment_effect *effect);

/** No clear answer: APPROVING → UNKNOWN. DONE, SAME, STALE. */
enum payment_stored payment_in_doubt(struct postgres *postgres, struct arena *arena, struct str id,
                                     int64_t number, struct str why, struct payment_effect *effect);

/** What a provider says that it has taken. */
struct payment_taken {
    struct str ref;
    struct str currency;
    int64_t total;
    int64_t canceled; /* given back of it */
};

/** It is paid: compared with what was to be paid, then the order is PAID, or the money is to be
 *  given back. DONE, SAME, REFUND, MISMATCH. */
enum payment_stored payment_paid(struct postgres *postgres, struct arena *arena, struct str id,
                                 const struct payment_taken *taken, struct str why,
                                 struct payment_effect *effect);

/** The provider says that nothing was taken. `phase`: FAILED (over there), or EXPIRED (still
 *  open there, or out of time). `is_final`: it was asked when "not paid" counted already, or has
 *  said so in answer to an approval. `give_back`: the order ends too. DONE, SAME, EARLY, STALE. */
enum payment_stored payment_unpaid(struct postgres *postgres, struct arena *arena, struct str id,
                                   enum payment_phase phase, bool is_final, bool give_back,
                                   struct str why, struct payment_effect *effect);

/** The member came back by cancel or fail: READY → STOPPED; with `give_back` the order ends as
 *  `order_status`. DONE, SAME, STALE. */
enum payment_stored payment_stop(struct postgres *postgres, struct arena *arena, struct str id,
                                 bool give_back, struct str order_status, struct str why,
                                 struct payment_effect *effect);

struct order_cancel {
    struct order order; /* as it is now */
    bool place_freed;
    bool came_back;
    struct str payment; /* to be given back from now on, by the caller; empty: none */
    struct str status;  /* for NOT_CANCELABLE: the order's */
};

/** Cancels the order `order` (valid) of `member`: see order_cancel() in the migration. DONE
 *  (also where it was canceled before, or is on its way), NONE, NOT_CANCELABLE, IN_PROGRESS. */
enum payment_stored payment_order_cancel(struct postgres *postgres, struct arena *arena,
                                         struct str member, struct str order,
                                         struct order_cancel *cancel);

/** The provider says that `canceled` of it was given back: → CANCELED, and the goods come back
 *  once. DONE, SAME, PARTIAL, STALE. */
enum payment_stored payment_canceled(struct postgres *postgres, struct arena *arena, struct str id,
                                     int64_t canceled, bool give_back, struct str why,
                                     struct payment_effect *effect);

/** The provider refuses to give it back: PAID again where the order still has its goods. DONE,
 *  STALE. */
enum payment_stored payment_cancel_refused(struct postgres *postgres, struct arena *arena,
                                           struct str id, struct str why,
                                           struct payment_effect *effect);

/** A look brought nothing: kept for support. DONE. */
enum payment_stored payment_note(struct postgres *postgres, struct arena *arena, struct str id,
                                 struct str error, bool needs_person);

/** There is news of a payment, by the provider's word: it is looked at soon. One of `ref` and
 *  `payment` may be empty. DONE (`*id`), NONE. */
enum payment_stored payment_hinted(struct postgres *postgres, struct arena *arena,
                                   struct str provider, struct str ref, struct str payment,
                                   struct str *id);

/** A payment to look at, or to give back. */
struct payment_row {
    struct str id;
    struct str order;
    struct str provider;
    enum payment_phase phase;
    struct str ref; /* empty while STARTING */
    struct payment_amounts amounts;
    int64_t canceled;
    struct str member;
    bool is_final;     /* "not paid" counts, if it is asked now */
    int64_t approvals; /* how often it was APPROVING */
    int64_t attempts;  /* this one included; 0 from payment_find() */
    bool needs_person;
};

/** The payment `id`: DONE, NONE. */
enum payment_stored payment_find(struct postgres *postgres, struct arena *arena, struct str id,
                                 struct payment_row *row);

/** Takes at most `limit` (≥ 1) payments whose time to be looked at has come, for
 *  `lease_seconds`: others get other ones meanwhile, except where there is news of one. From
 *  attempt `person_after` on a payment needs a person. DONE (`*rows`, `*count`). */
enum payment_stored payments_due(struct postgres *postgres, struct arena *arena, int64_t limit,
                                 int64_t person_after, int64_t lease_seconds,
                                 const struct payment_row **rows, size_t *count);

#endif
