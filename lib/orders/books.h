/*
 * books — how many payments are in which state, and what Redis has yet to be told: for those who
 * watch.
 */
#ifndef SLUICE_ORDERS_BOOKS_H
#define SLUICE_ORDERS_BOOKS_H

#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/orders/payment_phase.h"
#include "lib/store/postgres.h"

struct books {
    int64_t payments[PAYMENT_PHASE_COUNT];
    int64_t payments_stuck;  /* that need a person */
    int64_t outbox_consumes; /* tokens of which Redis has yet to hear that they are spent */
    int64_t outbox_others;
    int64_t outbox_failed;         /* of both, those that were tried in vain */
    int64_t outbox_oldest_seconds; /* when the oldest was written, since 1970; 0: there is none */
};

/** Reads them. It counts all payments: to be called a few times a minute at most. */
enum postgres_outcome books_read(struct postgres *postgres, struct arena *arena,
                                 struct books *books);

#endif
