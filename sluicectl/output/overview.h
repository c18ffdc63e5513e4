/*
 * overview — the current statistics of every queue.
 */
#ifndef SLUICE_SLUICECTL_OVERVIEW_H
#define SLUICE_SLUICECTL_OVERVIEW_H

#include <json-c/json.h>

#include "sluicectl/invocation.h"

struct overview {
    json_object *whole;  /* GET /v1/admin/overview; NULL if the server has no such route yet */
    json_object *queues; /* [stats of a queue, …]; one missing in Redis has just queue and state */
};

/** Reads it, with the last `samples` (0..60) seconds of each queue. Everything lives as long as the
 *  arena. False, with a message, if the server does not answer. */
bool overview_read(const struct invocation *invocation, int samples, struct overview *overview);

#endif
