/*
 * redis — the blocking Redis client of all programs and pools; requests of the queue pool go through
 * redis_async.h instead. One connection (to each node of a cluster), opened on first use and
 * reopened after any failure, with a timeout on everything. Not thread-safe.
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

/** Creates a client of the Redis that `settings` (borrowed) name: one server, the primary according
 *  to the Sentinels, or the nodes of a cluster; `timeout_ms` ≥ 1 bounds connecting and each reply.
 *  It uses only primaries whose data are known to be complete (redis_primary.h), and checks that
 *  once a second. Never NULL; nothing is connected yet. */
struct redis *redis_new(const struct settings *settings, int64_t timeout_ms);

/** The same without that check, for programs that repair (reconcile), observe (doctor) or can do
 *  with less (the catalogue's cache). */
struct redis *redis_new_unguarded(const struct settings *settings, int64_t timeout_ms);

/** Closes the connections. NULL is allowed. */
void redis_free(struct redis *redis);

/** Sends `command` and waits for its reply, which belongs to `arena`. A script that Redis does not
 *  know is sent again with its text. Returns NULL if Redis cannot be reached, does not answer in
 *  time or answers with an error; redis_error() says why. After NULL it is not known whether the
 *  command was executed. */
const redisReply *redis_call(struct redis *redis, struct arena *arena,
                             struct redis_command *command);

/** A number that changes with each connection: after a change, earlier acknowledged writes may have
 *  been lost. */
int64_t redis_connection(const struct redis *redis);

/** When the last command answered over this connection was sent, clock_monotonic_ms(); 0: none. */
int64_t redis_answered_ms(const struct redis *redis);

/** Why the last call returned NULL, borrowed until the next call. */
const char *redis_error(const struct redis *redis);

#endif
