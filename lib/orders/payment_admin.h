/*
 * payment_admin — payments as those see them who look after them: operators, and reconcile's
 * report. Text in results is borrowed from the answer, which lives as long as the arena.
 */
#ifndef SLUICE_ORDERS_PAYMENT_ADMIN_H
#define SLUICE_ORDERS_PAYMENT_ADMIN_H

#include "lib/orders/payment_store.h"

enum { PAYMENT_PAGE_MAX = 500 };

/** Which ones; empty text: all. */
struct payment_filter {
    bool stuck; /* only what needs a person */
    struct str state;
    struct str order;
    struct str id;
    struct str before; /* only those older than this payment */
};

/** Times in ms since 1970, -1 where there is none. */
struct payment_seen {
    struct str id;
    struct str order;
    struct str provider;
    struct str state;
    struct str why; /* what the last change of state came from */
    struct str ref; /* what the provider calls it; empty: nothing yet */
    struct payment_amounts amounts;
    int64_t canceled;
    int64_t attempts; /* looks since the last change of state */
    bool needs_person;
    struct str last_error;
    int64_t created_ms;
    int64_t updated_ms;
    int64_t next_look_ms; /* -1: it is settled */
    int64_t session_ends_ms;
};

struct payment_event {
    struct str from; /* empty: its beginning */
    struct str to;
    struct str why;
    int64_t at_ms;
};

/** At most `limit` payments, the newest first. */
enum postgres_outcome payment_admin_page(struct postgres *postgres, struct arena *arena,
                                         const struct payment_filter *filter, int64_t limit,
                                         struct payment_seen **rows, size_t *count);

/** The life of the payment `id`, the oldest first. */
enum postgres_outcome payment_admin_events(struct postgres *postgres, struct arena *arena,
                                           struct str id, struct payment_event **events,
                                           size_t *count);

/** Has the payment `id` looked at as soon as reconcile comes by. DONE; SAME: there is nothing to
 *  look at; NONE. */
enum payment_stored payment_admin_request_lookup(struct postgres *postgres, struct arena *arena,
                                                 struct str id);

#endif
