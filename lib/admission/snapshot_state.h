/*
 * snapshot_state — a queue's state as a number, for where text has no place.
 */
#ifndef SLUICE_ADMISSION_SNAPSHOT_STATE_H
#define SLUICE_ADMISSION_SNAPSHOT_STATE_H

#include <stdbool.h>

#include "lib/base/str.h"

/* Their order is the layout's of lib/admission/snapshot_file. */
enum snapshot_state {
    SNAPSHOT_PRE_OPEN,
    SNAPSHOT_OPEN,
    SNAPSHOT_PAUSED,
    SNAPSHOT_DRAINING,
    SNAPSHOT_SOLD_OUT,
    SNAPSHOT_CLOSED,
    SNAPSHOT_STATES
};

/** The word of the contract. */
struct str snapshot_state_word(enum snapshot_state state);

/** Returns false for a word that is none. */
bool snapshot_state_read(struct str word, enum snapshot_state *state);

#endif
