/*
 * scheduler — times the ticks of every queue and promotes where this process leads.
 * Any number of schedulers may run: one leads each queue by a lock in Redis, the others stand by
 * and take over when it hands over or its lock expires. The limits do not depend on that lock:
 * promote checks it again and takes its permits from Redis itself.
 */
#ifndef SLUICE_SCHEDULER_SCHEDULER_H
#define SLUICE_SCHEDULER_SCHEDULER_H

#include <stdint.h>

#include "lib/settings/settings.h"

struct scheduler;

/** A scheduler with a random identity. `settings` is borrowed. Never NULL. */
struct scheduler *scheduler_new(const struct settings *settings);

/** Does what is due and returns for how many milliseconds nothing will be due. */
int64_t scheduler_step(struct scheduler *scheduler);

/** Hands every queue over immediately. */
void scheduler_hand_over(struct scheduler *scheduler);

/** Closes the connections and releases everything; leadership that was not handed over expires. */
void scheduler_free(struct scheduler *scheduler);

#endif
