/*
 * snapshot_state — a queue's state as a number, for the shared memory.
 */
#ifndef SLUICE_ADMISSION_SNAPSHOT_STATE_H
#define SLUICE_ADMISSION_SNAPSHOT_STATE_H

#include <stdbool.h>

#include "lib/base/str.h"

/* Their order is the layout's of lib/admission/snapshot/snapshot_file. */
enum snapshot_state {
    SNAPSHOT_PRE_OPEN,
    SNAPSHOT_OPEN,
    SNAPSHOT_PAUSED,
    SNAPSHOT_DRAINING,
    SNAPSHOT_SOLD_OUT,
    SNAPSHOT_CLOSED,
    SNAPSHOT_STATES
};

/** The state's word in the API. */
struct str snapshot_state_word(enum snapshot_state state);

/** Parses a state; returns false for an unknown word. */
bool snapshot_state_read(struct str word, enum snapshot_state *state);

#endif
