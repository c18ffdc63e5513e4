/*
 * crowd — all shoppers: their arrivals, and who acts next.
 */
#ifndef SLUICE_DEMO_CROWD_H
#define SLUICE_DEMO_CROWD_H

#include <stdint.h>

#include "demo/shopper.h"

struct crowd;

/** `count` slots; most of the first people arrive right after `now` (monotonic ms), the others
 *  trickle in. `context` is borrowed. Never NULL. */
struct crowd *crowd_new(const struct shopper_context *context, int64_t count, int64_t now);

void crowd_free(struct crowd *crowd);

/** Runs every shopper due at `now`; returns for how many ms none will be due. */
int64_t crowd_step(struct crowd *crowd, int64_t now);

#endif
