#include "lib/orders/payment_phase.h"

#include <stddef.h>

static const struct {
    const char *name;
    bool is_open;
    bool may_hold_money;
} PHASES[] = {
#define STATE(name, is_open, may_hold_money, meaning)                                              \
    [PAYMENT_PHASE_##name] = {#name, is_open, may_hold_money},
#define TRANSITION(from, to, cause)
#include "lib/orders/payment_states.tbl"
#undef TRANSITION
#undef STATE
};

static const struct {
    enum payment_phase from;
    enum payment_phase to;
} TRANSITIONS[] = {
#define STATE(name, is_open, may_hold_money, meaning)
#define TRANSITION(from, to, cause) {PAYMENT_PHASE_##from, PAYMENT_PHASE_##to},
#include "lib/orders/payment_states.tbl"
#undef TRANSITION
#undef STATE
};

bool payment_phase_parse(struct str name, enum payment_phase *phase)
{
    for (size_t i = 0; i < PAYMENT_PHASE_COUNT; i++) {
        if (str_equal(name, str_of(PHASES[i].name))) {
            *phase = (enum payment_phase)i;
            return true;
        }
    }
    return false;
}

const char *payment_phase_name(enum payment_phase phase)
{
    return PHASES[phase].name;
}

bool payment_phase_is_open(enum payment_phase phase)
{
    return PHASES[phase].is_open;
}

bool payment_phase_may_hold_money(enum payment_phase phase)
{
    return PHASES[phase].may_hold_money;
}

bool payment_phase_may_follow(enum payment_phase from, enum payment_phase to)
{
    for (size_t i = 0; i < sizeof(TRANSITIONS) / sizeof(*TRANSITIONS); i++) {
        if (TRANSITIONS[i].from == from && TRANSITIONS[i].to == to) {
            return true;
        }
    }
    return false;
}
