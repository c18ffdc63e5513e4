/*
 * rate_keeper — once a second the leader of a queue looks at what its orders cost, and, where the
 * autopilot is on, moves the rate. What it puts down counts only while it leads and nobody has
 * changed the settings since it looked.
 */
#ifndef SLUICE_SCHEDULER_RATE_KEEPER_H
#define SLUICE_SCHEDULER_RATE_KEEPER_H

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis.h"

enum { RATE_KEEPER_MS = 1000 };

/** One look at `queue`, by its leader `owner`. Says in the log what was moved and why. */
void rate_keeper_look(struct redis *redis, struct arena *arena, struct str queue, struct str owner);

#endif
