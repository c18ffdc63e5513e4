/*
 * payment_phase — the states that a payment goes through, as payment_states.tbl has them.
 */
#ifndef SLUICE_ORDERS_PAYMENT_PHASE_H
#define SLUICE_ORDERS_PAYMENT_PHASE_H

#include <stdbool.h>

#include "lib/base/str.h"

enum payment_phase {
#define STATE(name, is_open, may_hold_money, meaning) PAYMENT_PHASE_##name,
#define TRANSITION(from, to, cause)
#include "lib/orders/payment_states.tbl"
#undef TRANSITION
#undef STATE
    PAYMENT_PHASE_COUNT
};

/** The phase of that name. Returns false where there is none. */
bool payment_phase_parse(struct str name, enum payment_phase *phase);

const char *payment_phase_name(enum payment_phase phase);

#endif
