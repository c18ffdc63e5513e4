/*
 * redis_async — the non-blocking Redis client of the queue pool. It has one pipelined connection to
 * the primary, or one to each primary of a cluster; finds them through the Sentinels or the
 * cluster, follows MOVED and ASK, and sends nothing to a server whose data are not known to be
 * complete (redis_tenure.h).
 */
#ifndef SLUICE_STORE_REDIS_ASYNC_H
#define SLUICE_STORE_REDIS_ASYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/settings/settings.h"
#include "lib/store/redis_pipeline.h"

struct redis_async;

/** Creates a client of the Redis that `settings` (borrowed) name. Its file descriptors are
 *  registered in `epoll_fd`, each with a data.ptr for redis_async_ready(). redis_timeout_ms bounds
 *  each command. Never NULL; the first connection is being opened. `now_ms` is monotonic, here and
 *  below. */
struct redis_async *redis_async_new(const struct settings *settings, int epoll_fd, int64_t now_ms);

/** Closes everything; commands in flight end without a reply. NULL is allowed. */
void redis_async_free(struct redis_async *async);

/** Sends `command` in the next turn; it must live until `done` was called. While Redis is
 *  unreachable `done` is called with NULL before this returns. `done` must not send another
 *  command. */
void redis_async_send(struct redis_async *async, struct redis_command *command,
                      redis_pipeline_done *done, void *context, int64_t now_ms);

/** Handles an event reported by epoll. False: `ptr` is not one of the client's. */
bool redis_async_ready(struct redis_async *async, void *ptr, uint32_t events, int64_t now_ms);

/** To be called once per turn of the event loop. */
void redis_async_turn(struct redis_async *async, int64_t now_ms);

/** How many milliseconds the oldest command in flight has waited for its reply; 0: none in
 *  flight. */
int64_t redis_async_late_ms(const struct redis_async *async, int64_t now_ms);

/** Milliseconds until redis_async_turn() has something to do, -1: never. */
int64_t redis_async_next_turn(const struct redis_async *async, int64_t now_ms);

#endif
