/*
 * redis — the blocking Redis client of the order and operator pools, the scheduler and reconcile.
 * One connection (to each node of a cluster), made when first needed and again after any failure,
 * with a time-out on everything.
 */
#ifndef SLUICE_STORE_REDIS_H
#define SLUICE_STORE_REDIS_H

#include <stdbool.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/settings/settings.h"
#include "lib/store/redis_command.h"

struct redis;

/** A client of the Redis that `settings` (borrowed, must live on) name: one server, the one that
 *  the Sentinels say, or the nodes of a cluster; `timeout_ms` ≥ 1 bounds connecting and each
 *  reply. It speaks to primaries whose data are known to be whole, see redis_primary.h, and
 *  looks again once a second. Never NULL; nothing is connected yet. */
struct redis *redis_new(const struct settings *settings, int64_t timeout_ms);

/** The same, but for whoever repairs (reconcile), looks (doctor, the board) or can do with less
 *  (the catalogue's cache): it speaks to a primary that has begun anew, too. */
struct redis *redis_new_unguarded(const struct settings *settings, int64_t timeout_ms);

void redis_free(struct redis *redis);

/** Sends `command` and waits for its reply, which belongs to `arena` and is given back with it.
 *  A script that Redis does not know is sent again with its text. Returns NULL where Redis
 *  cannot be reached, does not answer in time or answers with an error; redis_error() says why.
 *  After NULL it is not known whether the command was carried out. */
const redisReply *redis_call(struct redis *redis, struct arena *arena,
                             struct redis_command *command);

/** A number that differs for each connection: another one than before says that what was
 *  answered before it may be forgotten. */
int64_t redis_connection(const struct redis *redis);

/** When the last command was sent that was answered over this connection, clock_monotonic_ms();
 *  0 before the first. */
int64_t redis_answered_ms(const struct redis *redis);

/** Why the last call gave NULL, borrowed until the next call. */
const char *redis_error(const struct redis *redis);

#endif
