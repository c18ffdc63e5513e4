/*
 * redis — the blocking Redis client of the order and operator pools, the scheduler and reconcile.
 * One connection, made when first needed and again after any failure, with a time-out on everything.
 */
#ifndef SLUICE_STORE_REDIS_H
#define SLUICE_STORE_REDIS_H

#include <stdbool.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis_command.h"

struct redis;

/** A client of the server at the Unix socket `path` (borrowed, must live on); `timeout_ms` ≥ 1 bounds
 *  connecting and each reply. Never NULL; nothing is connected yet. */
struct redis *redis_new(const char *path, int64_t timeout_ms);

void redis_free(struct redis *redis);

/** Sends `command` and waits for its reply, which belongs to `arena` and is given back with it. A script
 *  that Redis does not know is sent again with its text. Returns NULL where Redis cannot be reached, does
 *  not answer in time or answers with an error; redis_error() says why. After NULL it is not known
 *  whether the command was carried out. */
const redisReply *redis_call(struct redis *redis, struct arena *arena,
                             struct redis_command *command);

/** A number that differs for each connection: another one than before says that what was answered before it may be forgotten. */
int64_t redis_connection(const struct redis *redis);

/** When the last command was sent that was answered over this connection, clock_monotonic_ms(); 0 before the first. */
int64_t redis_answered_ms(const struct redis *redis);

/** Why the last call gave NULL, borrowed until the next call. */
const char *redis_error(const struct redis *redis);

#endif
