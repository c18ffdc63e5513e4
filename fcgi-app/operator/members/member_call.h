/*
 * member_call — shared by the operators' routes about one member.
 */
#ifndef SLUICE_OPERATOR_MEMBER_CALL_H
#define SLUICE_OPERATOR_MEMBER_CALL_H

#include <stdbool.h>

#include "fcgi-app/operator/operator_call.h"
#include "lib/admission/outcome.h"
#include "lib/store/redis_command.h"

/** A checked request about the member in the path. */
struct member_call {
    struct operator_call operator;
    struct str member; /* member or visitor id */
};

/** As operator_begin(), and answers NOT_FOUND for an id that no member can have. */
bool member_begin(const struct services *services, const struct request *request,
                  struct response *response, bool reads, struct member_call *call);

/** Records `action` in the audit, then sends `command`. Returns false, with an answer, if that
 *  failed; else `outcome` is the script's. */
bool member_act(const struct services *services, const struct request *request,
                struct response *response, const struct member_call *call, const char *action,
                struct redis_command *command, enum outcome *outcome);

/** Answers 200 with the member's current place. */
void member_answer(const struct services *services, const struct request *request,
                   struct response *response, const struct member_call *call);

/** Answers an outcome that is not a success. */
void member_refuse(const struct services *services, const struct request *request,
                   struct response *response, const struct member_call *call, enum outcome outcome);

#endif
