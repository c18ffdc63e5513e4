#include "lib/database/payments/payment_phase.h"

#include <stddef.h>

static const char *const NAMES[] = {
#define STATE(name, is_open, may_hold_money, meaning) [PAYMENT_PHASE_##name] = #name,
#define TRANSITION(from, to, cause)
#include "lib/database/payments/payment_states.tbl"
#undef TRANSITION
#undef STATE
};

bool payment_phase_parse(struct str name, enum payment_phase *phase)
{
    for (size_t i = 0; i < PAYMENT_PHASE_COUNT; i++) {
        if (str_equal(name, str_of(NAMES[i]))) {
            *phase = (enum payment_phase)i;
            return true;
        }
    }
    return false;
}

const char *payment_phase_name(enum payment_phase phase)
{
    return NAMES[phase];
}
