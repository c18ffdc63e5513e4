/*
 * snapshot_answer — answers polls from far behind the front without Redis.
 */
#ifndef SLUICE_QUEUE_SNAPSHOT_ANSWER_H
#define SLUICE_QUEUE_SNAPSHOT_ANSWER_H

#include <stdbool.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"
#include "lib/admission/line/line.h"

/** Answers with the position of `caller` if this host's snapshot is certain of it, and younger than
 *  the pause that it asks for: then a client that keeps to the pauses never sees its rank grow,
 *  whichever host answers. Returns false, and leaves `response` alone, if Redis must be queried. */
bool snapshot_answer(const struct services *services, const struct request *request,
                     const struct line_caller *caller, struct response *response);

#endif
