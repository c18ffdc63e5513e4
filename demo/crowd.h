/*
 * crowd — all shoppers: when they come, and whose turn it is.
 */
#ifndef SLUICE_DEMO_CROWD_H
#define SLUICE_DEMO_CROWD_H

#include <stdint.h>

#include "demo/shopper.h"

struct crowd;

/** `count` slots; most of the first people come at once after `now` (monotonic ms), the others
 *  trickle in. `context` is borrowed. Never NULL. */
struct crowd *crowd_new(const struct shopper_context *context, int64_t count, int64_t now);

void crowd_free(struct crowd *crowd);

/** Lets everyone act who is due at `now`; returns for how many ms nobody will be. */
int64_t crowd_step(struct crowd *crowd, int64_t now);

#endif
