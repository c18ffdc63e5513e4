/*
 * payment_phase — the states of a payment, as payment_states.tbl defines them.
 */
#ifndef SLUICE_ORDERS_PAYMENT_PHASE_H
#define SLUICE_ORDERS_PAYMENT_PHASE_H

#include <stdbool.h>

#include "lib/base/str.h"

enum payment_phase {
#define STATE(name, is_open, may_hold_money, meaning) PAYMENT_PHASE_##name,
#define TRANSITION(from, to, cause)
#include "lib/database/payments/payment_states.tbl"
#undef TRANSITION
#undef STATE
    PAYMENT_PHASE_COUNT
};

/** Parses a phase's name. Returns false if there is none of that name. */
bool payment_phase_parse(struct str name, enum payment_phase *phase);

/** The name of a phase, as payment_phase_parse() takes it: a constant. */
const char *payment_phase_name(enum payment_phase phase);

#endif
