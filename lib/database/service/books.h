/*
 * books — for monitoring: payments by state, and the outbox (changes that Redis has not received
 * yet).
 */
#ifndef SLUICE_ORDERS_BOOKS_H
#define SLUICE_ORDERS_BOOKS_H

#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/database/payments/payment_phase.h"
#include "lib/store/postgres.h"

struct books {
    int64_t payments[PAYMENT_PHASE_COUNT];
    int64_t payments_stuck;  /* that need an operator */
    int64_t outbox_consumes; /* spent tokens that Redis does not know of yet */
    int64_t outbox_others;
    int64_t outbox_failed;         /* of both, those with failed attempts */
    int64_t outbox_oldest_seconds; /* when the oldest was written, since 1970; 0: none */
};

/** Reads them. It counts all payments: call it a few times a minute at most. */
enum postgres_outcome books_read(struct postgres *postgres, struct arena *arena,
                                 struct books *books);

#endif
