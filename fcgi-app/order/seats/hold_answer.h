/*
 * hold_answer — a member's holds, on the wire.
 */
#ifndef SLUICE_ORDER_HOLD_ANSWER_H
#define SLUICE_ORDER_HOLD_ANSWER_H

#include "fcgi-app/http/response.h"
#include "lib/admission/seats/seats.h"

/** Answers {"seats", "expiresAt", "held": [{"seat", "expiresAt"}], "serverTime"}: ids and
 *  deadlines, soonest first; the first expiresAt is the soonest one, null if nothing is held. */
void hold_answer(struct response *response, int status, const struct seat_holds *holds);

#endif
