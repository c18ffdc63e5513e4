/*
 * gate_decision — what the gate makes of a request before Redis is asked about its owner. It
 * changes nothing, so that an operator's dry run judges by the very same rules.
 */
#ifndef SLUICE_GATE_GATE_DECISION_H
#define SLUICE_GATE_GATE_DECISION_H

#include <stdbool.h>

#include "fcgi-app/gate/visit.h"

enum gate_step {
    GATE_THROUGH, /* it may go on */
    GATE_REFUSE,  /* it may not */
    GATE_WATCH, /* it goes on and is counted, for a visitor that is still to be made where nobody is known */
    GATE_CHECK, /* Redis knows whether its owner is in */
    GATE_ENTER  /* a new visitor enters at once, where nobody waits */
};

struct gate_decision {
    enum gate_step step;
    const char *verdict; /* of GATE_THROUGH and GATE_REFUSE: the reason's word */
};

/** Judges `visit`, whose `known` and owner are there (`known` may be NULL: there is no such
 *  queue). */
struct gate_decision gate_decide(const struct visit *visit);

/** The pass names a visit of this opening that nobody has ended. */
bool gate_pass_counts(const struct visit *visit);

/** Only a page that a person opens takes a place, and only where there may be one. */
bool gate_may_enter_at_once(const struct visit *visit);

#endif
