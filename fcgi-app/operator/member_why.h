/*
 * member_why — why a member stands where they stand, in words for whoever answers the phone.
 */
#ifndef SLUICE_OPERATOR_MEMBER_WHY_H
#define SLUICE_OPERATOR_MEMBER_WHY_H

#include "fcgi-app/http/request.h"
#include "fcgi-app/pool/services.h"
#include "lib/admission/gate.h"

/** One or two sentences, in the request's arena. Asks Redis and PostgreSQL for what else there
 *  is to know; what does not answer is left out. */
const char *member_why(const struct services *services, const struct request *request,
                       struct str queue, const struct member_place *place);

#endif
