#include "lib/admission/snapshot/snapshot_keeper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/admission/snapshot/snapshot_file.h"
#include "lib/admission/snapshot/snapshot_view.h"
#include "lib/admission/snapshot/snapshot_writer.h"
#include "lib/base/clock.h"
#include "lib/metrics/metrics.h"
#include "lib/store/redis_reply.h"

enum {
    KEEP_FROM = 200, /* members of a shorter line are all near its front */
    DROP_BELOW = 150,
    WANTED_MS = 30000, /* kept for this long after its last use */
    AFTER_MISCOUNT_MS = 2000
};

struct kept {
    struct snapshot_writer writer;
    bool is_known; /* the marks were loaded, over `connection` */
    int64_t connection;
    int64_t change;
    int64_t not_before_ms;
};

struct snapshot_keeper {
    int fd;
    struct snapshot_file *file;
    size_t count;
    struct kept *kept[SNAPSHOT_QUEUES]; /* `count` of them are used */
};

struct snapshot_keeper *snapshot_keeper_open(const char *path)
{
    int fd = -1;
    struct snapshot_file *file = snapshot_file_map(path, &fd);

    if (file == NULL) {
        return NULL;
    }
    if (!snapshot_file_own(fd)) {
        int why = errno;
        snapshot_file_unmap(file);
        (void)close(fd);
        errno = why;
        return NULL;
    }
    struct snapshot_keeper *keeper = calloc(1, sizeof(*keeper));
    if (keeper == NULL) {
        abort();
    }
    keeper->fd = fd;
    keeper->file = file;
    for (size_t i = 0; i < SNAPSHOT_QUEUES; i++) {
        snapshot_writer_close(file, i);
    }
    return keeper;
}

static void note_count(const struct snapshot_keeper *keeper)
{
    metrics_set(METRIC_SNAPSHOTS, (int64_t)keeper->count);
}

static void give_up(struct snapshot_keeper *keeper, size_t i)
{
    snapshot_writer_close(keeper->file, keeper->kept[i]->writer.slot_number);
    free(keeper->kept[i]);
    keeper->kept[i] = keeper->kept[--keeper->count];
    note_count(keeper);
}

void snapshot_keeper_close(struct snapshot_keeper *keeper)
{
    if (keeper == NULL) {
        return;
    }
    while (keeper->count > 0) {
        give_up(keeper, 0);
    }
    snapshot_file_unmap(keeper->file);
    (void)close(keeper->fd);
    free(keeper);
}

static void start_keeping(struct snapshot_keeper *keeper, struct str queue)
{
    struct kept *kept = calloc(1, sizeof(*kept));

    if (kept == NULL) {
        abort();
    }
    if (!snapshot_writer_open(&kept->writer, keeper->file, keeper->fd, queue)) {
        free(kept);
        return;
    }
    keeper->kept[keeper->count++] = kept;
    note_count(keeper);
}

void snapshot_keeper_see(struct snapshot_keeper *keeper, struct str queue, int64_t waiting)
{
    size_t i = 0;

    while (i < keeper->count && !str_equal(str_of(keeper->kept[i]->writer.queue), queue)) {
        i++;
    }
    if (i < keeper->count) {
        if (waiting < DROP_BELOW) {
            give_up(keeper, i);
        }
    } else if (waiting >= KEEP_FROM && keeper->count < SNAPSHOT_QUEUES) {
        start_keeping(keeper, queue);
    }
}

size_t snapshot_keeper_count(const struct snapshot_keeper *keeper)
{
    return keeper->count;
}

/* Loads all marks of the numbers in `view`, while no answers are given from them. */
static bool read_marks(struct kept *kept, const struct snapshot_view *view, struct redis *redis,
                       struct arena *arena)
{
    int64_t first = (view->front + 1) / SNAPSHOT_RANGE;
    int64_t last = snapshot_writer_reach(view) / SNAPSHOT_RANGE;

    kept->is_known = false;
    snapshot_writer_begin(&kept->writer, view);
    for (int64_t from = first; from <= last; from += SNAPSHOT_RANGES_AT_ONCE) {
        int64_t left = last - from + 1;
        int64_t count = left < SNAPSHOT_RANGES_AT_ONCE ? left : SNAPSHOT_RANGES_AT_ONCE;
        const redisReply *reply = redis_call(
            redis, arena, snapshot_marks_command(arena, str_of(kept->writer.queue), from, count));
        if (outcome_of(reply) != OUTCOME_OK) {
            return false;
        }
        for (int64_t i = 0; i < count && (size_t)i + 1 < reply->elements; i++) {
            snapshot_writer_range(&kept->writer, from + i, redis_reply_text(reply, (size_t)i + 1));
        }
    }
    kept->change = view->change;
    kept->connection = redis_connection(redis);
    kept->is_known = true;
    return true;
}

static enum outcome ask(const struct kept *kept, struct redis *redis, struct arena *arena,
                        struct snapshot_view *view)
{
    return snapshot_view_read(redis_call(redis, arena,
                                         snapshot_view_command(arena, str_of(kept->writer.queue),
                                                               kept->is_known ? kept->change : -1)),
                              view);
}

/* Whether the marks known so far plus the changes in `view` are complete. After a lost connection
 * Redis may have lost changes that it had reported. */
static bool is_contiguous(const struct kept *kept, const struct snapshot_view *view,
                          const struct redis *redis)
{
    return kept->is_known && !view->missing && redis_connection(redis) == kept->connection &&
           snapshot_writer_fits(&kept->writer, view);
}

static void show(struct kept *kept, const struct snapshot_view *view, int64_t asked_ms)
{
    if (snapshot_writer_show(&kept->writer, view, asked_ms)) {
        kept->change = view->change;
        return;
    }
    metrics_add(METRIC_SNAPSHOT_MISCOUNTS, 1);
    kept->is_known = false;
    kept->not_before_ms = asked_ms + AFTER_MISCOUNT_MS;
}

bool snapshot_keeper_refresh(struct snapshot_keeper *keeper, size_t i, struct redis *redis,
                             struct arena *arena, int64_t now_ms)
{
    struct kept *kept = keeper->kept[i];
    struct snapshot_view view;

    if (now_ms < kept->not_before_ms ||
        snapshot_writer_unwanted_ms(&kept->writer, now_ms) > WANTED_MS) {
        return true;
    }
    enum outcome outcome = ask(kept, redis, arena, &view);
    if (outcome == OUTCOME_OK && !is_contiguous(kept, &view, redis)) {
        /* Changes made in the meantime are part of the second reply. */
        if (!read_marks(kept, &view, redis, arena)) {
            return false;
        }
        now_ms = clock_monotonic_ms();
        outcome = ask(kept, redis, arena, &view);
        if (outcome == OUTCOME_OK && !is_contiguous(kept, &view, redis)) {
            kept->is_known = false;
            return true;
        }
    }
    if (outcome == OUTCOME_NOT_FOUND) {
        give_up(keeper, i);
        return true;
    }
    if (outcome != OUTCOME_OK) {
        return false;
    }
    if (snapshot_writer_reach(&view) < view.last) {
        /* Changes beyond the reach are not stored, and would be missing when the front moves. */
        kept->is_known = false;
        kept->not_before_ms = now_ms + AFTER_MISCOUNT_MS;
        return true;
    }
    show(kept, &view, now_ms);
    return true;
}
