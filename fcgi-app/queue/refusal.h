/*
 * refusal — answers a queue route whose script refused, or whose reply did not come.
 */
#ifndef SLUICE_QUEUE_REFUSAL_H
#define SLUICE_QUEUE_REFUSAL_H

#include <hiredis/hiredis.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "lib/admission/outcome.h"

/** Answers with the problem of `outcome`. A queue that is not in Redis although it is known, by
 *  a valid ticket (`has_ticket`) or because this process has seen it, is an outage and no 404.
 *  So is one of which nobody here knows, in a Redis that may not have all queues: then
 *  response->follow_up is set, and the finish is to come here again with whatever it makes of
 *  the reply, which is no outcome. */
void refusal_answer(const struct request *request, struct response *response, struct str queue,
                    bool has_ticket, enum outcome outcome, const redisReply *reply);

#endif
