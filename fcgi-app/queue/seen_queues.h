/*
 * seen_queues — the queues that this process has found in Redis. If one is missing later, its name
 * was not misspelt: Redis has lost its memory.
 */
#ifndef SLUICE_QUEUE_SEEN_QUEUES_H
#define SLUICE_QUEUE_SEEN_QUEUES_H

#include <stdbool.h>

#include "lib/base/str.h"

/** Remembers `queue` (a slug). With very many, the oldest are forgotten. */
void seen_queues_add(struct str queue);

/** True if `queue` was found and is still remembered. */
bool seen_queues_has(struct str queue);

/** Forgets `queue`: it was deleted. */
void seen_queues_remove(struct str queue);

#endif
