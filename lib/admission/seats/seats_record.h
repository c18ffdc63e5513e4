/*
 * seats_record — parses the replies of the seat scripts. Internal to lib/admission/seats/seats.
 */
#ifndef SLUICE_ADMISSION_SEATS_RECORD_H
#define SLUICE_ADMISSION_SEATS_RECORD_H

#include "lib/admission/seats/seats.h"

/** Parses a member's record of holds, `seat/deadline/guard/claim/admission` separated by spaces:
 *  those unexpired at holds->now_ms, soonest deadline first. */
void seats_record_holds(struct arena *arena, struct str record, struct seat_holds *holds);

/** Splits `list` at its spaces. Returns the number of words; `*words` is in the arena. */
size_t seats_record_words(struct arena *arena, struct str list, const struct str **words);

#endif
