#include "lib/admission/snapshot/snapshot_writer.h"

#include <fcntl.h>
#include <string.h>

#include "lib/admission/snapshot/snapshot_state.h"
#include "lib/base/clock.h"

static void store(_Atomic int64_t *word, int64_t value)
{
    atomic_store_explicit(word, value, memory_order_relaxed);
}

/* Readers that see an odd version, or a change of the version, call Redis. A writer that was killed
 * in between leaves an odd version, which the next writer continues from. */
static void write_begin(struct snapshot_slot *slot)
{
    int64_t version = atomic_load_explicit(&slot->version, memory_order_relaxed) | 1;

    store(&slot->version, version);
    atomic_thread_fence(memory_order_release);
}

static void write_end(struct snapshot_slot *slot)
{
    int64_t version = atomic_load_explicit(&slot->version, memory_order_relaxed);

    atomic_store_explicit(&slot->version, version + 1, memory_order_release);
}

static void write_words(_Atomic int64_t *words, const void *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t word;
        memcpy(&word, (const char *)from + i * sizeof(word), sizeof(word));
        store(&words[i], word);
    }
}

/* A head from which no answers are given. */
static void write_empty_head(struct snapshot_slot *slot)
{
    const struct snapshot_head nothing = {0};

    write_begin(slot);
    write_words(slot->head, &nothing, SNAPSHOT_HEAD_WORDS);
    write_end(slot);
}

bool snapshot_writer_open(struct snapshot_writer *writer, struct snapshot_file *file, int fd,
                          struct str queue)
{
    size_t i = 0;

    while (i < SNAPSHOT_QUEUES &&
           atomic_load_explicit(&file->names[i], memory_order_relaxed) != 0) {
        i++;
    }
    if (i == SNAPSHOT_QUEUES || queue.n >= SNAPSHOT_NAME) {
        return false;
    }
    *writer =
        (struct snapshot_writer){.slot_number = i, .file = file, .slot = &file->slots[i], .fd = fd};
    str_copy(queue, writer->queue, sizeof(writer->queue));
    write_empty_head(writer->slot);
    store(&writer->slot->wanted_ms, clock_monotonic_ms());
    atomic_store_explicit(&file->names[i], snapshot_name_hash(queue), memory_order_relaxed);
    return true;
}

void snapshot_writer_close(struct snapshot_file *file, size_t slot_number)
{
    atomic_store_explicit(&file->names[slot_number], 0, memory_order_relaxed);
    write_empty_head(&file->slots[slot_number]);
}

int64_t snapshot_writer_unwanted_ms(const struct snapshot_writer *writer, int64_t now_ms)
{
    return now_ms - atomic_load_explicit(&writer->slot->wanted_ms, memory_order_relaxed);
}

int64_t snapshot_writer_reach(const struct snapshot_view *view)
{
    int64_t most = view->front + SNAPSHOT_NUMBERS - SNAPSHOT_BLOCK;

    return view->last < most ? view->last : most;
}

/* Clears the bits, returning their memory if the system supports it. */
static void forget(const struct snapshot_writer *writer, _Atomic uint64_t *bits)
{
    off_t at = (off_t)((const char *)bits - (const char *)writer->file);
    off_t length = SNAPSHOT_WORDS * sizeof(uint64_t);

    if (fallocate(writer->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, length) != 0) {
        for (size_t i = 0; i < SNAPSHOT_WORDS; i++) {
            atomic_store_explicit(&bits[i], 0, memory_order_relaxed);
        }
    }
}

void snapshot_writer_begin(struct snapshot_writer *writer, const struct snapshot_view *view)
{
    bool same_line = writer->epoch == view->epoch && writer->incarnation == view->incarnation &&
                     writer->front <= view->front;

    write_empty_head(writer->slot);
    /* A reader that sees a cleared bit sees the new version too. */
    atomic_thread_fence(memory_order_release);
    forget(writer, writer->slot->gone);
    if (!same_line) {
        /* Otherwise kept: what this host learnt itself may be newer than what is read now. */
        forget(writer, writer->slot->ask);
    }
    writer->epoch = view->epoch;
    writer->incarnation = view->incarnation;
    writer->front = view->front;
}

static void apply(struct snapshot_writer *writer, int64_t number, enum snapshot_mark mark)
{
    size_t word = snapshot_word_of(number);
    uint64_t bit = snapshot_bit_of(number);

    if (number <= writer->front || number - writer->front > SNAPSHOT_NUMBERS - SNAPSHOT_WORD) {
        return;
    }
    if (mark == SNAPSHOT_GONE) {
        (void)atomic_fetch_or_explicit(&writer->slot->gone[word], bit, memory_order_relaxed);
    } else {
        (void)atomic_fetch_and_explicit(&writer->slot->gone[word], ~bit, memory_order_relaxed);
    }
    if (mark != SNAPSHOT_UNMARKED) {
        (void)atomic_fetch_or_explicit(&writer->slot->ask[word], bit, memory_order_relaxed);
    }
}

void snapshot_writer_range(struct snapshot_writer *writer, int64_t range, struct str marks)
{
    for (size_t i = 0; i < SNAPSHOT_RANGE && marks.n > 0; i++) {
        enum snapshot_mark mark = snapshot_mark_of(marks, i);
        if (mark != SNAPSHOT_UNMARKED) {
            apply(writer, range * SNAPSHOT_RANGE + (int64_t)i, mark);
        }
    }
}

bool snapshot_writer_fits(const struct snapshot_writer *writer, const struct snapshot_view *view)
{
    return writer->epoch == view->epoch && writer->incarnation == view->incarnation &&
           writer->front <= view->front && view->front - writer->front < SNAPSHOT_NUMBERS / 2;
}

/* Clears the bits of numbers that the front has passed, for reuse by new numbers. */
static void move_front(struct snapshot_writer *writer, int64_t front)
{
    int64_t from = (writer->front + 1) / SNAPSHOT_WORD;
    int64_t to = (front + 1) / SNAPSHOT_WORD;

    for (int64_t i = from; i < to; i++) {
        size_t word = (size_t)(i % SNAPSHOT_WORDS);
        atomic_store_explicit(&writer->slot->gone[word], 0, memory_order_relaxed);
        atomic_store_explicit(&writer->slot->ask[word], 0, memory_order_relaxed);
    }
    writer->front = front;
}

/* Fills gone_before; returns how many numbers between the front and `last` are gone. */
static int64_t sum_up(struct snapshot_writer *writer, int64_t last)
{
    int64_t sum = 0;
    int64_t from = writer->front + 1;

    while (from <= last) {
        int64_t next = snapshot_block_start(from) + SNAPSHOT_BLOCK;
        atomic_store_explicit(&writer->slot->gone_before[snapshot_block_of(from)], (uint32_t)sum,
                              memory_order_relaxed);
        sum += snapshot_gone_between(writer->slot, from, next <= last ? next : last + 1);
        from = next;
    }
    return sum;
}

static void apply_changes(struct snapshot_writer *writer, const struct snapshot_view *view)
{
    int64_t number;
    enum snapshot_mark mark;

    for (size_t i = view->first_change; i < view->reply->elements; i++) {
        if (snapshot_view_change(view, i, &number, &mark)) {
            apply(writer, number, mark);
        }
    }
}

static struct snapshot_head head_of(const struct snapshot_writer *writer,
                                    const struct snapshot_view *view, enum snapshot_state state,
                                    int64_t asked_ms)
{
    struct snapshot_head head = {
        .asked_ms = asked_ms,
        .redis_ms = view->now_ms,
        .state = state,
        .waiting = view->waiting,
        .front = view->front,
        .last = snapshot_writer_reach(view),
        .before = view->at_front + view->before_main,
        .near = view->near,
        .rate_milli = view->rate_milli,
        .epoch = view->epoch,
        .incarnation = view->incarnation,
        .on_hold = view->on_hold,
        .for_visitors = view->for_visitors,
        .exact_only = view->exact_only,
        .tiers_length = (int64_t)view->poll_tiers.n,
    };

    memcpy(head.queue, writer->queue, sizeof(head.queue));
    return head;
}

/* Whether the number of members in the main line equals the number of numbers that are not gone.
 * Not checked if some numbers are out of reach. */
static bool adds_up(const struct snapshot_view *view, int64_t gone)
{
    int64_t above = view->last > view->front ? view->last - view->front - gone : 0;

    return snapshot_writer_reach(view) < view->last || view->in_main == view->at_front + above;
}

bool snapshot_writer_show(struct snapshot_writer *writer, const struct snapshot_view *view,
                          int64_t asked_ms)
{
    struct snapshot_slot *slot = writer->slot;
    int64_t tiers[SNAPSHOT_TIER_WORDS] = {0};
    struct snapshot_head head = {0};
    enum snapshot_state state;
    bool usable =
        snapshot_state_read(view->queue_state, &state) && view->poll_tiers.n <= sizeof(tiers);

    write_begin(slot);
    move_front(writer, view->front);
    apply_changes(writer, view);
    int64_t gone = sum_up(writer, snapshot_writer_reach(view));
    bool is_right = adds_up(view, gone);
    if (usable && is_right) {
        head = head_of(writer, view, state, asked_ms);
        if (view->poll_tiers.n > 0) {
            memcpy(tiers, view->poll_tiers.p, view->poll_tiers.n);
        }
        write_words(slot->tiers, tiers, SNAPSHOT_TIER_WORDS);
    }
    write_words(slot->head, &head, SNAPSHOT_HEAD_WORDS);
    write_end(slot);
    return is_right;
}
