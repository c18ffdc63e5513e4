#include "fcgi-app/gate/gate_cache.h"

#include <stdlib.h>
#include <string.h>

#include "lib/admission/line/line.h"
#include "lib/base/arena.h"
#include "lib/base/digest.h"
#include "lib/base/hash.h"
#include "lib/base/identifier.h"

enum { SLOTS = 256, PROBES = 8 };

struct slot {
    char name[SLUG_MAX];
    size_t name_length; /* 0: free */
    struct gate_knowledge known;
    struct arena *memory; /* holds the entry's text */
    int64_t asked_at_ms;  /* when a caller was last told to refresh it */
};

static struct slot slots[SLOTS];

static size_t hash_of(struct str queue)
{
    return hash_text(queue) % SLOTS;
}

static struct slot *find(struct str queue)
{
    size_t first = hash_of(queue);

    for (size_t i = 0; i < PROBES; i++) {
        struct slot *slot = &slots[(first + i) % SLOTS];
        if (slot->name_length == queue.n && memcmp(slot->name, queue.p, queue.n) == 0) {
            return slot;
        }
    }
    return NULL;
}

static void empty(struct slot *slot)
{
    gate_bypass_free(slot->known.bypass);
    arena_free(slot->memory);
    *slot = (struct slot){0};
}

/* A free slot, or the one with the oldest entry. */
static struct slot *make_room(struct str queue)
{
    size_t first = hash_of(queue);
    struct slot *chosen = &slots[first];

    for (size_t i = 0; i < PROBES; i++) {
        struct slot *slot = &slots[(first + i) % SLOTS];
        if (slot->name_length == 0) {
            chosen = slot;
            break;
        }
        if (slot->known.read_at_ms < chosen->known.read_at_ms) {
            chosen = slot;
        }
    }
    empty(chosen);
    memcpy(chosen->name, queue.p, queue.n);
    chosen->name_length = queue.n;
    chosen->memory = arena_new();
    return chosen;
}

const struct gate_knowledge *gate_cache_find(struct str queue)
{
    const struct slot *slot = find(queue);

    return slot == NULL ? NULL : &slot->known;
}

bool gate_cache_is_due(struct str queue, int64_t now_ms)
{
    struct slot *slot = find(queue);

    if (slot == NULL || now_ms - slot->known.read_at_ms >= GATE_CACHE_TRUSTED_MS) {
        return true;
    }
    if (now_ms - slot->known.read_at_ms < GATE_CACHE_REFRESH_MS ||
        now_ms - slot->asked_at_ms < GATE_CACHE_REFRESH_MS) {
        return false;
    }
    slot->asked_at_ms = now_ms;
    return true;
}

static struct str keep(struct arena *memory, struct str text)
{
    return str_sized(arena_copy(memory, text), text.n);
}

static int by_text(const void *a, const void *b)
{
    const struct str *left = a, *right = b;
    size_t shorter = left->n < right->n ? left->n : right->n;
    int order = memcmp(left->p, right->p, shorter);

    return order != 0 ? order : (left->n > right->n) - (left->n < right->n);
}

static void keep_ended(struct slot *slot, const redisReply *reply)
{
    size_t count = gate_view_ended_count(reply);

    struct str *ended = arena_alloc(slot->memory, (count + 1) * sizeof(*ended));
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct str admission = gate_view_ended(reply, i);
        if (admission.n > 0) {
            ended[kept++] = keep(slot->memory, admission);
        }
    }
    if (kept > 1) {
        qsort(ended, kept, sizeof(*ended), by_text);
    }
    slot->known.ended = ended;
    slot->known.ended_count = kept;
}

/* Keeps the compiled rules while the settings stay the same. */
static void keep_bypass(struct slot *slot, const struct gate_view *old, struct str rules)
{
    if (slot->known.view.version == old->version &&
        slot->known.view.incarnation == old->incarnation) {
        return;
    }
    gate_bypass_free(slot->known.bypass);
    slot->known.bypass = gate_bypass_parse(rules);
}

const struct gate_knowledge *gate_cache_put(struct str queue, const redisReply *reply,
                                            int64_t now_ms)
{
    struct slot *slot = find(queue);
    struct gate_view view;
    enum outcome outcome = gate_read_view(reply, &view);

    if (outcome == OUTCOME_NOT_FOUND && slot != NULL && !line_settings_missing(reply)) {
        empty(slot);
        return NULL;
    }
    if (outcome != OUTCOME_OK) {
        return slot == NULL ? NULL : &slot->known;
    }
    if (queue.n > SLUG_MAX) {
        return NULL;
    }
    if (slot == NULL) {
        slot = make_room(queue);
    }
    const struct gate_view old = slot->known.view;
    struct str rules = view.bypass;
    arena_reset(slot->memory);
    view.activation = keep(slot->memory, view.activation);
    view.bypass = str_sized(NULL, 0);
    view.queue_state = keep(slot->memory, view.queue_state);
    view.message = keep(slot->memory, view.message);
    view.mode = keep(slot->memory, view.mode);
    slot->known.view = view;
    slot->known.read_at_ms = now_ms;
    keep_bypass(slot, &old, rules);
    keep_ended(slot, reply);
    return &slot->known;
}

int64_t gate_cache_redis_ms(const struct gate_knowledge *known, int64_t now_ms)
{
    return known->view.now_ms + (now_ms - known->read_at_ms);
}

bool gate_cache_has_ended(const struct gate_knowledge *known, struct str admission)
{
    return known->ended_count > 0 && bsearch(&admission, known->ended, known->ended_count,
                                             sizeof(*known->ended), by_text) != NULL;
}
