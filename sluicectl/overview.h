/*
 * overview — the numbers of every queue at this moment.
 */
#ifndef SLUICE_SLUICECTL_OVERVIEW_H
#define SLUICE_SLUICECTL_OVERVIEW_H

#include <json-c/json.h>

#include "sluicectl/invocation.h"

struct overview {
    json_object *whole; /* GET /v1/admin/overview; NULL where the server has no such route yet */
    json_object *
        queues; /* [stats of a queue, …]; one that Redis cannot speak of has just queue and state */
};

/** Asks for them, with the last `samples` (0..60) seconds of each. All of it lives as long as
 *  the arena. False, and said why, where the server does not answer. */
bool overview_read(const struct invocation *invocation, int samples, struct overview *overview);

#endif
