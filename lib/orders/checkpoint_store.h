/*
 * checkpoint_store — the highest place number that PostgreSQL has heard of, per queue.
 */
#ifndef SLUICE_ORDERS_CHECKPOINT_STORE_H
#define SLUICE_ORDERS_CHECKPOINT_STORE_H

#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/postgres.h"

/** Remembers that `seq` (≥ 1) was given out in `queue`; a lower one than known changes nothing. */
enum postgres_outcome checkpoint_store(struct postgres *postgres, struct arena *arena,
                                       struct str queue, int64_t seq);

#endif
