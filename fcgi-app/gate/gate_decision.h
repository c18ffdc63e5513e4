/*
 * gate_decision — what the gate decides about a request before it queries Redis about the owner. It
 * changes nothing, so an operator's dry run judges by the same rules.
 */
#ifndef SLUICE_GATE_GATE_DECISION_H
#define SLUICE_GATE_GATE_DECISION_H

#include <stdbool.h>

#include "fcgi-app/gate/visit.h"

enum gate_step {
    GATE_THROUGH, /* the request passes */
    GATE_REFUSE,  /* it is refused */
    GATE_WATCH,   /* it passes and is counted; a visitor is created if the owner is not known */
    GATE_CHECK,   /* Redis knows whether the owner is admitted */
    GATE_ENTER    /* a new visitor enters, and is admitted immediately if no one waits */
};

struct gate_decision {
    enum gate_step step;
    const char *verdict; /* of GATE_THROUGH and GATE_REFUSE: the word for the reason */
};

/** Judges `visit`, whose `known` and owner are filled in (`known` NULL: there is no such queue). */
struct gate_decision gate_decide(const struct visit *visit);

/** True if the pass names an admission of this epoch that has not been ended. */
bool gate_pass_counts(const struct visit *visit);

/** True if the request may take a place: only a page that a person opens, where places exist. */
bool gate_may_enter_at_once(const struct visit *visit);

#endif
