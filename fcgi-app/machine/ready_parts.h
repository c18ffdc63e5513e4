/*
 * ready_parts — the answer to GET /readyz: each part that the pool needs, and whether it responds.
 */
#ifndef SLUICE_MACHINE_READY_PARTS_H
#define SLUICE_MACHINE_READY_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "fcgi-app/http/response.h"

struct ready_part {
    const char *name;
    bool answers;
};

/** Writes {"status": "ok" | "unavailable", "parts": {"redis": "ok" | "unavailable", …}}: 200 if all
 *  parts respond, else 503. */
void ready_parts_answer(struct response *response, const struct ready_part *parts, size_t count);

#endif
