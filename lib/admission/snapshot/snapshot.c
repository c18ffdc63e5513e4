#include "lib/admission/snapshot/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "lib/admission/snapshot/snapshot_file.h"
#include "lib/admission/snapshot/snapshot_state.h"

enum { WANTED_EVERY_MS = 500 };

struct snapshot {
    struct snapshot_file *file;
    size_t hint; /* the slot found last: consecutive polls are mostly about one queue */
};

struct snapshot *snapshot_open(const char *path)
{
    struct snapshot_file *file = snapshot_file_map(path, NULL);

    if (file == NULL) {
        return NULL;
    }
    struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
    if (snapshot == NULL) {
        abort();
    }
    snapshot->file = file;
    return snapshot;
}

void snapshot_close(struct snapshot *snapshot)
{
    if (snapshot != NULL) {
        snapshot_file_unmap(snapshot->file);
        free(snapshot);
    }
}

static bool is_named(const struct snapshot *snapshot, size_t i, uint64_t name)
{
    return atomic_load_explicit(&snapshot->file->names[i], memory_order_relaxed) == name;
}

static struct snapshot_slot *find(struct snapshot *snapshot, struct str queue)
{
    uint64_t name = snapshot_name_hash(queue);

    if (!is_named(snapshot, snapshot->hint, name)) {
        size_t i = 0;
        while (i < SNAPSHOT_QUEUES && !is_named(snapshot, i, name)) {
            i++;
        }
        if (i == SNAPSHOT_QUEUES) {
            return NULL;
        }
        snapshot->hint = i;
    }
    return &snapshot->file->slots[snapshot->hint];
}

/* Marks the slot as used: the keeper refreshes only slots in use. */
static void mark_wanted(struct snapshot_slot *slot, int64_t now_ms)
{
    int64_t before = atomic_load_explicit(&slot->wanted_ms, memory_order_relaxed);

    if (now_ms - before >= WANTED_EVERY_MS || before > now_ms) {
        atomic_store_explicit(&slot->wanted_ms, now_ms, memory_order_relaxed);
    }
}

static void read_words(_Atomic int64_t *words, void *to, size_t count)
{
    int64_t *into = to;

    for (size_t i = 0; i < count; i++) {
        into[i] = atomic_load_explicit(&words[i], memory_order_relaxed);
    }
}

static bool is_of_queue(const struct snapshot_head *head, struct str queue)
{
    return queue.n < SNAPSHOT_NAME && memcmp(head->queue, queue.p, queue.n) == 0 &&
           head->queue[queue.n] == '\0';
}

/* Whether this snapshot may answer this ticket at all. */
static bool fits(const struct snapshot_head *head, const struct line_caller *caller, int64_t age_ms)
{
    return head->asked_ms != 0 && age_ms <= SNAPSHOT_AGE_MAX_MS && age_ms >= -SNAPSHOT_AGE_MAX_MS &&
           is_of_queue(head, caller->queue) && caller->epoch == head->epoch &&
           caller->incarnation == head->incarnation && caller->seq > head->front &&
           caller->seq <= head->last && caller->seq - head->front < SNAPSHOT_NUMBERS &&
           (!caller->by_visitor || head->for_visitors == 1) && head->tiers_length >= 0 &&
           head->tiers_length <= SNAPSHOT_TIERS && head->state >= 0 &&
           head->state < SNAPSHOT_STATES;
}

static bool needs_check(struct snapshot_slot *slot, int64_t seq)
{
    uint64_t word = atomic_load_explicit(&slot->ask[snapshot_word_of(seq)], memory_order_relaxed);

    return (word & snapshot_bit_of(seq)) != 0;
}

/* How many members are ahead of number `seq`. */
static int64_t rank_of(struct snapshot_slot *slot, const struct snapshot_head *head, int64_t seq)
{
    int64_t start = snapshot_block_start(seq);
    int64_t from = start > head->front ? start : head->front + 1;
    int64_t gone =
        atomic_load_explicit(&slot->gone_before[snapshot_block_of(seq)], memory_order_relaxed) +
        snapshot_gone_between(slot, from, seq);

    return head->before + seq - head->front - 1 - gone;
}

static struct str read_tiers(struct snapshot_slot *slot, int64_t length, struct arena *arena)
{
    if (length == 0) {
        return str_sized(NULL, 0);
    }
    size_t words = ((size_t)length + sizeof(int64_t) - 1) / sizeof(int64_t);
    char *text = arena_alloc(arena, words * sizeof(int64_t));
    read_words(slot->tiers, text, words);
    return str_sized(text, (size_t)length);
}

static void fill(const struct snapshot_head *head, const struct line_caller *caller, int64_t rank,
                 int64_t age_ms, struct line_position *position)
{
    *position = (struct line_position){
        .queue_state = snapshot_state_word((enum snapshot_state)head->state),
        .status = LINE_WAITING,
        .rank = rank,
        .waiting = head->waiting,
        .rate_milli = head->rate_milli,
        .seq = caller->seq,
        .epoch = head->epoch,
        .incarnation = head->incarnation,
        .now_ms = head->redis_ms + age_ms,
        .on_hold = head->on_hold == 1,
        .lane = STR("main"),
        .exact_only = head->exact_only == 1,
    };
}

bool snapshot_position(struct snapshot *snapshot, const struct line_caller *caller, int64_t now_ms,
                       struct arena *arena, struct line_position *position, int64_t *age_ms)
{
    struct snapshot_head head;

    /* Unmarked numbers have generation 0. */
    if (snapshot == NULL || !caller->has_ticket || caller->generation != 0 ||
        (caller->lane.n > 0 && !str_equal(caller->lane, STR("main")))) {
        return false;
    }
    struct snapshot_slot *slot = find(snapshot, caller->queue);
    if (slot == NULL) {
        return false;
    }
    mark_wanted(slot, now_ms);
    int64_t version = atomic_load_explicit(&slot->version, memory_order_acquire);
    read_words(slot->head, &head, SNAPSHOT_HEAD_WORDS);
    *age_ms = now_ms - head.asked_ms;
    if (version % 2 != 0 || !fits(&head, caller, *age_ms) || needs_check(slot, caller->seq)) {
        return false;
    }
    int64_t rank = rank_of(slot, &head, caller->seq);
    struct str tiers = read_tiers(slot, head.tiers_length, arena);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&slot->version, memory_order_relaxed) != version || rank < head.near) {
        return false;
    }
    *age_ms = *age_ms < 0 ? 0 : *age_ms;
    fill(&head, caller, rank, *age_ms, position);
    position->poll_tiers = tiers;
    return true;
}

void snapshot_doubt(struct snapshot *snapshot, struct str queue, int64_t seq)
{
    struct snapshot_slot *slot = snapshot == NULL || seq < 1 ? NULL : find(snapshot, queue);

    if (slot != NULL) {
        (void)atomic_fetch_or_explicit(&slot->ask[snapshot_word_of(seq)], snapshot_bit_of(seq),
                                       memory_order_relaxed);
    }
}
