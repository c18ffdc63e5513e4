/*
 * checkpoint_store — the highest number given out in each queue, as far as PostgreSQL knows.
 */
#ifndef SLUICE_ORDERS_CHECKPOINT_STORE_H
#define SLUICE_ORDERS_CHECKPOINT_STORE_H

#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/postgres.h"

/** Records that `seq` (≥ 1) was given out in `queue`; a no-op unless it is the highest so far. */
enum postgres_outcome checkpoint_store(struct postgres *postgres, struct arena *arena,
                                       struct str queue, int64_t seq);

#endif
