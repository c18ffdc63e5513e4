/*
 * refusal — answers a queue route whose script refused or did not reply.
 */
#ifndef SLUICE_QUEUE_REFUSAL_H
#define SLUICE_QUEUE_REFUSAL_H

#include <hiredis/hiredis.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "lib/admission/outcome.h"

/** Answers with the problem of `outcome`. If a queue is missing in Redis although it is known, by a
 *  valid ticket (`has_ticket`) or because this process has seen it, that is an outage, not a 404.
 *  So is an unknown queue in a Redis that may not have all queues: then response->follow_up is set,
 *  and the route's finish is to call this again with whatever it makes of the reply, which is no
 *  outcome. */
void refusal_answer(const struct request *request, struct response *response, struct str queue,
                    bool has_ticket, enum outcome outcome, const redisReply *reply);

#endif
