/*
 * ready_parts — the answer to GET /readyz: every part that the pool needs, and whether it answers.
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

/** Writes {"status": "ok" | "unavailable", "parts": {"redis": "ok" | "unavailable", …}}: 200
 *  where all answer, else 503. */
void ready_parts_answer(struct response *response, const struct ready_part *parts, size_t count);

#endif
