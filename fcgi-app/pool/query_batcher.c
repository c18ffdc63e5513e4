#include "fcgi-app/pool/query_batcher.h"

#include <stdlib.h>

#include "lib/base/hash.h"

/* For how long a queue is not batched after its batch could not decide. */
enum { UNBATCHED_MS = 1000, UNBATCHED_SLOTS = 256, SPARE_MAX = 64 };

struct batch {
    struct query_batcher *owner;
    struct arena *arena;
    size_t count;
    struct line_query *queries[LINE_QUERIES_MAX];
    query_batcher_done *done[LINE_QUERIES_MAX];
    void *contexts[LINE_QUERIES_MAX];
    uint64_t queue; /* its hash */
    struct batch *next;
};

/* Queues by hash alone: of two that share a slot, the other costs a little more for a second. */
struct unbatched {
    uint64_t queue;
    int64_t until_ms;
};

struct query_batcher {
    int64_t now_ms;
    struct batch *open; /* filled in this turn */
    struct batch *spare;
    size_t spare_count;
    struct unbatched unbatched[UNBATCHED_SLOTS];
};

struct query_batcher *query_batcher_new(void)
{
    struct query_batcher *batcher = calloc(1, sizeof(*batcher));

    if (batcher == NULL) {
        abort();
    }
    return batcher;
}

static void free_all(struct batch *batch)
{
    while (batch != NULL) {
        struct batch *next = batch->next;
        arena_free(batch->arena);
        free(batch);
        batch = next;
    }
}

void query_batcher_free(struct query_batcher *batcher)
{
    if (batcher != NULL) {
        free_all(batcher->open);
        free_all(batcher->spare);
        free(batcher);
    }
}

static struct batch *take_batch(struct query_batcher *batcher)
{
    struct batch *batch = batcher->spare;

    if (batch != NULL) {
        batcher->spare = batch->next;
        batcher->spare_count--;
        return batch;
    }
    batch = calloc(1, sizeof(*batch));
    if (batch == NULL) {
        abort();
    }
    batch->owner = batcher;
    batch->arena = arena_new();
    return batch;
}

static void give_back(struct batch *batch)
{
    struct query_batcher *batcher = batch->owner;

    if (batcher->spare_count == SPARE_MAX) {
        batch->next = NULL;
        free_all(batch);
        return;
    }
    arena_reset(batch->arena);
    batch->count = 0;
    batch->next = batcher->spare;
    batcher->spare = batch;
    batcher->spare_count++;
}

/* A batch with room for the query: nearly always the first, as most queries at a time are about one
 * queue. */
static struct batch *batch_for(struct query_batcher *batcher, const struct line_query *query)
{
    for (struct batch *batch = batcher->open; batch != NULL; batch = batch->next) {
        if (batch->count < LINE_QUERIES_MAX && line_queries_match(batch->queries[0], query)) {
            return batch;
        }
    }
    struct batch *batch = take_batch(batcher);
    batch->next = batcher->open;
    batcher->open = batch;
    return batch;
}

void query_batcher_add(struct query_batcher *batcher, struct line_query *query,
                       query_batcher_done *done, void *context, int64_t now_ms)
{
    uint64_t queue = hash_text(query->caller->queue);
    const struct unbatched *unbatched = &batcher->unbatched[queue % UNBATCHED_SLOTS];

    if (unbatched->queue == queue && now_ms < unbatched->until_ms) {
        query->state = LINE_QUERY_UNDECIDED;
        done(context);
        return;
    }
    struct batch *batch = batch_for(batcher, query);
    batch->queue = queue;
    batch->queries[batch->count] = query;
    batch->done[batch->count] = done;
    batch->contexts[batch->count] = context;
    batch->count++;
}

static void on_reply(void *context, const redisReply *reply)
{
    struct batch *batch = context;
    struct query_batcher *batcher = batch->owner;

    if (!line_queries_read(reply, batch->queries, batch->count)) {
        batcher->unbatched[batch->queue % UNBATCHED_SLOTS] =
            (struct unbatched){.queue = batch->queue, .until_ms = batcher->now_ms + UNBATCHED_MS};
    }
    for (size_t i = 0; i < batch->count; i++) {
        batch->done[i](batch->contexts[i]);
    }
    give_back(batch);
}

void query_batcher_send(struct query_batcher *batcher, struct redis_async *redis, int64_t now_ms)
{
    struct batch *batch = batcher->open;

    batcher->now_ms = now_ms;
    batcher->open = NULL;
    while (batch != NULL) {
        struct batch *next = batch->next;
        struct redis_command *command =
            line_queries_command(batch->arena, batch->queries, batch->count);
        redis_async_send(redis, command, on_reply, batch, now_ms);
        batch = next;
    }
}
