#include "fcgi-app/pool/together.h"

#include <stdlib.h>

/* How long nobody asks together about a queue that was found not to be an ordinary one. */
enum { APART_MS = 1000, APART_SLOTS = 256, SPARE_MAX = 64 };

struct batch {
    struct together *owner;
    struct arena *arena;
    size_t count;
    struct line_look *looks[LINE_LOOKS_MAX];
    together_done *done[LINE_LOOKS_MAX];
    void *contexts[LINE_LOOKS_MAX];
    uint64_t queue; /* its hash */
    struct batch *next;
};

/* Queues by hash alone: of two that share one, the other costs a little more for a second. */
struct apart {
    uint64_t queue;
    int64_t until_ms;
};

struct together {
    int64_t now_ms;
    struct batch *open; /* filled in this turn */
    struct batch *spare;
    size_t spare_count;
    struct apart apart[APART_SLOTS];
};

struct together *together_new(void)
{
    struct together *together = calloc(1, sizeof(*together));

    if (together == NULL) {
        abort();
    }
    return together;
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

void together_free(struct together *together)
{
    if (together != NULL) {
        free_all(together->open);
        free_all(together->spare);
        free(together);
    }
}

static uint64_t hash_of(struct str queue)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */

    for (size_t i = 0; i < queue.n; i++) {
        hash = (hash ^ (unsigned char)queue.p[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

static struct batch *take_batch(struct together *together)
{
    struct batch *batch = together->spare;

    if (batch != NULL) {
        together->spare = batch->next;
        together->spare_count--;
        return batch;
    }
    batch = calloc(1, sizeof(*batch));
    if (batch == NULL) {
        abort();
    }
    batch->owner = together;
    batch->arena = arena_new();
    return batch;
}

static void give_back(struct batch *batch)
{
    struct together *together = batch->owner;

    if (together->spare_count == SPARE_MAX) {
        batch->next = NULL;
        free_all(batch);
        return;
    }
    arena_reset(batch->arena);
    batch->count = 0;
    batch->next = together->spare;
    together->spare = batch;
    together->spare_count++;
}

/* One with room for it: nearly always the first, for most questions of a moment are about one queue. */
static struct batch *batch_for(struct together *together, const struct line_look *look)
{
    for (struct batch *batch = together->open; batch != NULL; batch = batch->next) {
        if (batch->count < LINE_LOOKS_MAX && line_looks_match(batch->looks[0], look)) {
            return batch;
        }
    }
    struct batch *batch = take_batch(together);
    batch->next = together->open;
    together->open = batch;
    return batch;
}

void together_add(struct together *together, struct line_look *look, together_done *done,
                  void *context, int64_t now_ms)
{
    uint64_t queue = hash_of(look->caller->queue);
    const struct apart *apart = &together->apart[queue % APART_SLOTS];

    if (apart->queue == queue && now_ms < apart->until_ms) {
        look->state = LINE_LOOK_UNDECIDED;
        done(context);
        return;
    }
    struct batch *batch = batch_for(together, look);
    batch->queue = queue;
    batch->looks[batch->count] = look;
    batch->done[batch->count] = done;
    batch->contexts[batch->count] = context;
    batch->count++;
}

static void on_reply(void *context, const redisReply *reply)
{
    struct batch *batch = context;
    struct together *together = batch->owner;

    if (!line_looks_read(reply, batch->looks, batch->count)) {
        together->apart[batch->queue % APART_SLOTS] =
            (struct apart){.queue = batch->queue, .until_ms = together->now_ms + APART_MS};
    }
    for (size_t i = 0; i < batch->count; i++) {
        batch->done[i](batch->contexts[i]);
    }
    give_back(batch);
}

void together_send(struct together *together, struct redis_line *line, int64_t now_ms)
{
    struct batch *batch = together->open;

    together->now_ms = now_ms;
    together->open = NULL;
    while (batch != NULL) {
        struct batch *next = batch->next;
        struct redis_command *command =
            line_looks_command(batch->arena, batch->looks, batch->count);
        redis_line_send(line, command, on_reply, batch, now_ms);
        batch = next;
    }
}
