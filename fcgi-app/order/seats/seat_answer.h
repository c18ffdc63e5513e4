/*
 * seat_answer — the problems shared by routes of seats and orders of seats.
 */
#ifndef SLUICE_ORDER_SEAT_ANSWER_H
#define SLUICE_ORDER_SEAT_ANSWER_H

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"
#include "lib/admission/seats/seats.h"

/** Answers SEATS_TAKEN ("taken"), UNKNOWN_SEAT ("unknown"), SEAT_NOT_HELD ("notHeld"), each with
 *  the seats, and TOO_MANY_SEATS ("most"); any other refusal as problem_answer_outcome() does. */
void seat_answer_refusal(const struct request *request, struct response *response,
                         enum outcome outcome, const struct seat_refusal *refusal);

/** As seat_answer_refusal(), for a show that PostgreSQL knows: if Redis does not, it has lost the
 *  show or its queue. */
void seat_answer_hold_refusal(const struct request *request, struct response *response,
                              enum outcome outcome, const struct seat_refusal *refusal);

/** Answers for a show that Redis does not know in `queue`: it is not loaded, does not exist, or
 *  (`at`: the pointer to it in a body) is sold through another queue. */
void seat_answer_no_show(const struct services *services, const struct request *request,
                         struct response *response, const struct show_ref *show, const char *at);

/** Finds the queue that sells the show; false: answered. Text is borrowed from the request's
 *  arena. */
bool seat_answer_find_show(const struct services *services, const struct request *request,
                           struct response *response, struct str id, struct show_ref *show);

#endif
