/*
 * redis_reply — accessors for the array replies of our scripts that do not trust their shape.
 * "Borrowed from the reply", here and in lib/admission, means as long as the reply lives: a reply
 * to redis_call() as long as its arena, one to redis_async_send() or redis_pipeline_send() only
 * during the call of `done`.
 */
#ifndef SLUICE_STORE_REDIS_REPLY_H
#define SLUICE_STORE_REDIS_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

#include "lib/base/str.h"

/** The `index`th element as text (strings and statuses; the empty str for anything else), borrowed
 *  from the reply. */
struct str redis_reply_text(const redisReply *reply, size_t index);

/** The `index`th element as a number (integers, and strings that contain one); `otherwise` if it
 *  is none. */
int64_t redis_reply_int(const redisReply *reply, size_t index, int64_t otherwise);

/** True for a NOSCRIPT error: Redis does not know the script. */
bool redis_reply_is_noscript(const redisReply *reply);

#endif
