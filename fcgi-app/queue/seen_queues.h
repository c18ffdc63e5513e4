/*
 * seen_queues — the queues that this process has found in Redis. One of them that is missing later
 * was not misspelt: Redis has lost its memory.
 */
#ifndef SLUICE_QUEUE_SEEN_QUEUES_H
#define SLUICE_QUEUE_SEEN_QUEUES_H

#include <stdbool.h>

#include "lib/base/str.h"

/** Remembers `queue` (a slug). Of very many the older ones are forgotten. */
void seen_queues_add(struct str queue);

bool seen_queues_has(struct str queue);

/** Forgets `queue`: it was deleted. */
void seen_queues_remove(struct str queue);

#endif
