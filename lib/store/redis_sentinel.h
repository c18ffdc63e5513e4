/*
 * redis_sentinel — asks the Sentinels, one after another, for the primary. Blocks. Internal to
 * lib/store.
 */
#ifndef SLUICE_STORE_REDIS_SENTINEL_H
#define SLUICE_STORE_REDIS_SENTINEL_H

#include <stdbool.h>

#include "lib/base/arena.h"
#include "lib/store/redis_access.h"
#include "lib/store/redis_command.h"

enum { REDIS_SENTINEL_TIMEOUT_MS = 300 }; /* for each of them */

/** The command that asks for the primary. */
struct redis_command *redis_sentinel_ask(struct arena *arena, const struct redis_access *access);

/** Fills `server`, and from now on asks the Sentinel that knew it first. False, with one sentence
 *  in `error`, if none does. */
bool redis_sentinel_find(struct redis_access *access, struct redis_server *server,
                         char error[REDIS_ACCESS_ERROR]);

#endif
