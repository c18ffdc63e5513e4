/*
 * redis_ping — whether Redis answers. The command is built here and sent by the caller.
 */
#ifndef SLUICE_STORE_REDIS_PING_H
#define SLUICE_STORE_REDIS_PING_H

#include <stdbool.h>

#include <hiredis/hiredis.h>

#include "lib/store/redis_command.h"

/** Requests a sign of life. */
struct redis_command *redis_ping_ask(struct arena *arena);

/** True if `reply`, which may be NULL, is the answer. */
bool redis_ping_answered(const redisReply *reply);

#endif
