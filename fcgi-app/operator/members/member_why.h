/*
 * member_why — explains to support staff why a member has the place they have.
 */
#ifndef SLUICE_OPERATOR_MEMBER_WHY_H
#define SLUICE_OPERATOR_MEMBER_WHY_H

#include "fcgi-app/http/request.h"
#include "fcgi-app/pool/services.h"
#include "lib/admission/members/member.h"

/** One or two sentences, in the request's arena. Reads further facts from Redis and PostgreSQL;
 *  those that cannot be read are omitted. */
const char *member_why(const struct services *services, const struct request *request,
                       struct str queue, const struct member_place *place);

#endif
