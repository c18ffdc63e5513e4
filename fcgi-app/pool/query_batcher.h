/*
 * query_batcher — collects the polls and entries that arrive in one turn of the queue pool's loop
 * and sends those about one queue to Redis as one command, see lib/admission/line/line_query.h. So
 * the cost of a turn in Redis hardly grows with the number of requests.
 */
#ifndef SLUICE_POOL_QUERY_BATCHER_H
#define SLUICE_POOL_QUERY_BATCHER_H

#include <stdint.h>

#include "lib/admission/line/line_query.h"
#include "lib/store/redis_async.h"

struct query_batcher;

/** Called once the query's state is no longer LINE_QUERY_NEW; its text is valid during the call.
 *  Must not send commands. */
typedef void query_batcher_done(void *context);

/** Never NULL. */
struct query_batcher *query_batcher_new(void);

/** To be called after redis_async_free(), when nothing is in flight. NULL is allowed. */
void query_batcher_free(struct query_batcher *batcher);

/** Adds `query`, which must live until `done` is called, to the batch that query_batcher_send()
 *  sends. `done` may be called before this returns, with LINE_QUERY_UNDECIDED, while queries about
 *  that queue cannot be batched. `now_ms` is monotonic, here and below. */
void query_batcher_add(struct query_batcher *batcher, struct line_query *query,
                       query_batcher_done *done, void *context, int64_t now_ms);

/** Sends everything added since the last call. */
void query_batcher_send(struct query_batcher *batcher, struct redis_async *redis, int64_t now_ms);

#endif
