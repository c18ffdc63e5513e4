/*
 * payment_admin — payments as operators and reconcile's report see them. Text in results lives
 * as long as the arena.
 */
#ifndef SLUICE_ORDERS_PAYMENT_ADMIN_H
#define SLUICE_ORDERS_PAYMENT_ADMIN_H

#include "lib/database/payments/payment_store.h"

enum { PAYMENT_PAGE_MAX = 500 };

/** Which payments; empty text matches all. */
struct payment_filter {
    bool stuck; /* only those that need an operator */
    struct str state;
    struct str order;
    struct str id;
    struct str before; /* only those older than this payment */
};

/** Times in ms since 1970, -1 if not set. */
struct payment_seen {
    struct str id;
    struct str order;
    struct str provider;
    struct str state;
    struct str why; /* cause of the last change of state */
    struct str ref; /* the provider's reference; empty: none yet */
    struct payment_amounts amounts;
    int64_t canceled;
    int64_t attempts; /* look-ups since the last change of state */
    bool needs_person;
    struct str last_error;
    int64_t created_ms;
    int64_t updated_ms;
    int64_t next_look_ms; /* next look-up; -1: settled */
    int64_t session_ends_ms;
};

struct payment_event {
    struct str from; /* empty: created */
    struct str to;
    struct str why;
    int64_t at_ms;
};

/** Reads at most `limit` payments, newest first. */
enum postgres_outcome payment_admin_page(struct postgres *postgres, struct arena *arena,
                                         const struct payment_filter *filter, int64_t limit,
                                         struct payment_seen **rows, size_t *count);

/** Reads the state changes of the payment `id`, oldest first. */
enum postgres_outcome payment_admin_events(struct postgres *postgres, struct arena *arena,
                                           struct str id, struct payment_event **events,
                                           size_t *count);

/** Requests that reconcile look up the payment `id` in its next pass. DONE; SAME: it needs no
 *  look-up; NONE. */
enum payment_stored payment_admin_request_lookup(struct postgres *postgres, struct arena *arena,
                                                 struct str id);

#endif
