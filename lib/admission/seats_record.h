/*
 * seats_record — reads what the scripts of seats answer with. Internal to lib/admission/seats.
 */
#ifndef SLUICE_ADMISSION_SEATS_RECORD_H
#define SLUICE_ADMISSION_SEATS_RECORD_H

#include "lib/admission/seats.h"

/** Reads a member's record of holds, `seat/deadline/guard/claim/admission` separated by spaces:
 *  those that are alive at holds->now_ms, soonest end first. */
void seats_record_holds(struct arena *arena, struct str record, struct seat_holds *holds);

/** Cuts `list` at its spaces. Returns how many there are; `*words` is in the arena. */
size_t seats_record_words(struct arena *arena, struct str list, const struct str **words);

#endif
