/*
 * rate_keeper — once a second the leader of a queue reads the load of its orders and, if the
 * autopilot is on, adjusts the rate. A change applies only while it leads and the settings have not
 * changed since it read them.
 */
#ifndef SLUICE_SCHEDULER_RATE_KEEPER_H
#define SLUICE_SCHEDULER_RATE_KEEPER_H

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis.h"

enum { RATE_KEEPER_MS = 1000 };

/** One step for `queue` by its leader `owner`. Logs each change and its reason. */
void rate_keeper_look(struct redis *redis, struct arena *arena, struct str queue, struct str owner);

#endif
