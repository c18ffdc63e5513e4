#include "lib/catalog/l1.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/catalog/l1_file.h"
#include "lib/catalog/l1_folder.h"
#include "lib/catalog/l1_host.h"
#include "lib/metrics/metrics.h"

enum {
    CHECK_US = 1000000,    /* interval of checks whether the open file is still the current one */
    READERS_US = 10000000, /* interval of clearing the slots of dead readers */
    LOG_US = 10000000,     /* between two log lines of the same kind */
    GATE_TRIES = 20,       /* a write takes well below a millisecond */
    GATE_PAUSE_NS = 1000000,
};

struct l1 {
    const char *directory; /* NULL: no L1 */
    size_t room;
    struct l1_folder folder;
    struct host_locks locks;
    struct l1_host host;
    struct l1_file file;
    int64_t checked_at; /* µs, as the others */
    int64_t cleared_at;
    int64_t logged_at;
};

/* The stored form of an object. When it changes, the numbers in l1_file.c must be raised. */
struct record {
    int64_t exists;
    struct catalog_entry entry; /* its text is stored separately */
};

static void log_rarely(struct l1 *l1, const char *what, const char *why)
{
    int64_t now = clock_monotonic_us();

    if (l1->logged_at == 0 || now - l1->logged_at > LOG_US) {
        l1->logged_at = now;
        log_event(LOG_LEVEL_WARNING, what,
                  LOG_FIELDS(LOG_TEXT("directory", l1->directory), LOG_TEXT("why", why)));
    }
}

/* Writers queue here and not at LMDB's own lock, whose waiters cannot give up: a writer stopped
 * halfway would block all others. */
static bool gate_enter(struct l1 *l1)
{
    const struct timespec pause = {.tv_nsec = GATE_PAUSE_NS};

    for (int i = 0; i < GATE_TRIES; i++) {
        if (host_lock_try(&l1->locks, STR("gate"))) {
            return true;
        }
        (void)nanosleep(&pause, NULL);
    }
    metrics_add(METRIC_CATALOG_L1_HELD_UP, 1);
    log_rarely(l1, "catalog.l1_held_up", "another process has been writing for too long");
    return false;
}

static void gate_leave(struct l1 *l1)
{
    host_lock_leave(&l1->locks, STR("gate"));
}

/* The file cannot be trusted any more: it is removed, and the next check creates a new one. */
static void give_up(struct l1 *l1, int code)
{
    metrics_add(METRIC_CATALOG_L1_DAMAGED, 1);
    log_rarely(l1, "catalog.l1_damaged", l1_file_error(code));
    if (gate_enter(l1)) {
        l1_file_remove(&l1->file);
        gate_leave(l1);
    }
    l1_file_close(&l1->file);
    l1->checked_at = clock_monotonic_us();
}

static void open_file(struct l1 *l1)
{
    int code = 0;

    if (!gate_enter(l1)) {
        return;
    }
    code = l1_file_open(&l1->file, l1->folder.path, l1->room);
    if (code != 0 && l1_file_is_damage(code)) {
        metrics_add(METRIC_CATALOG_L1_DAMAGED, 1);
        log_rarely(l1, "catalog.l1_damaged", l1_file_error(code));
        l1_file_unlink(l1->folder.path);
        code = l1_file_open(&l1->file, l1->folder.path, l1->room);
    }
    gate_leave(l1);
    if (code != 0) {
        log_rarely(l1, "catalog.l1_unusable", l1_file_error(code));
    }
}

static void leave_folder(struct l1 *l1)
{
    l1_file_close(&l1->file);
    host_locks_close(&l1->locks);
    l1_folder_close(&l1->folder);
    l1_host_invent(&l1->host);
}

/* The locks and the host's name belong to the directory. */
static bool enter_folder(struct l1 *l1)
{
    char path[L1_PATH_MAX];

    leave_folder(l1);
    if (l1_folder_open(&l1->folder, l1->directory)) {
        (void)snprintf(path, sizeof(path), "%s/locks", l1->folder.path);
        if (host_locks_open(&l1->locks, path) &&
            l1_host_read(&l1->host, &l1->locks, l1->folder.path, l1_file_unlink)) {
            return true;
        }
    }
    log_rarely(l1, "catalog.l1_unusable", strerror(errno));
    leave_folder(l1);
    return false;
}

/* Opens what is not open, or is no longer what its name leads to. */
static void reopen(struct l1 *l1)
{
    if (!l1_folder_is_in_place(&l1->folder, l1->directory) && !enter_folder(l1)) {
        return;
    }
    if (l1_file_is_open(&l1->file) && !l1_file_is_current(&l1->file)) {
        l1_file_close(&l1->file);
    }
    if (!l1_file_is_open(&l1->file)) {
        open_file(l1);
    }
}

/* Whether there is a file to work with; periodically checks that it is still the current one. */
static bool is_usable(struct l1 *l1)
{
    int64_t now = clock_monotonic_us();

    if (l1->directory == NULL) {
        return false;
    }
    if (l1->checked_at == 0 || now - l1->checked_at > CHECK_US) {
        l1->checked_at = now;
        reopen(l1);
    }
    if (l1_file_is_open(&l1->file) && now - l1->cleared_at > READERS_US) {
        l1->cleared_at = now;
        l1_file_clear_readers(&l1->file);
    }
    return l1_file_is_open(&l1->file);
}

struct l1 *l1_open(const char *directory, int64_t mib)
{
    struct l1 *l1 = calloc(1, sizeof(*l1));

    if (l1 == NULL) {
        abort();
    }
    l1->locks.fd = -1;
    l1->folder.fd = -1;
    l1->room = (size_t)mib * 1024 * 1024;
    l1_host_invent(&l1->host);
    if (directory != NULL && directory[0] != '\0') {
        l1->directory = directory;
        (void)is_usable(l1);
    }
    return l1;
}

void l1_close(struct l1 *l1)
{
    if (l1 != NULL) {
        leave_folder(l1);
        free(l1);
    }
}

const char *l1_host(const struct l1 *l1)
{
    return l1->host.name;
}

struct host_locks *l1_locks(struct l1 *l1)
{
    return &l1->locks;
}

/* The text must match the record: both were written in one transaction. */
static int take_text(struct l1_read *read, const struct catalog_key *key, struct arena *arena,
                     struct catalog_entry *entry)
{
    struct str text;
    int code = l1_file_text(read, key, &text);

    if (code == 0 &&
        (text.n < CATALOG_ETAG_TEXT || memcmp(text.p, entry->etag, CATALOG_ETAG_TEXT) != 0)) {
        code = L1_FILE_NONSENSE;
    }
    if (code == 0) {
        text.p += CATALOG_ETAG_TEXT;
        text.n -= CATALOG_ETAG_TEXT;
        entry->text = str_sized(arena_copy(arena, text), text.n);
    }
    return code;
}

static int read_object(struct l1_read *read, const struct catalog_key *key, struct arena *arena,
                       struct catalog_entry *entry)
{
    struct str bytes;
    struct record record;
    int code = l1_file_record(read, key, &bytes);

    if (code == 0 && bytes.n != sizeof(record)) {
        code = L1_FILE_NONSENSE;
    }
    if (code != 0) {
        return code;
    }
    memcpy(&record, bytes.p, sizeof(record));
    record.entry.exists = record.exists == 1;
    record.entry.etag[CATALOG_ETAG_TEXT] = '\0';
    *entry = record.entry;
    entry->text = str_sized(NULL, 0);
    return arena != NULL && entry->exists ? take_text(read, key, arena, entry) : 0;
}

bool l1_read(struct l1 *l1, const struct catalog_key *key, struct arena *arena,
             struct catalog_entry *entry)
{
    struct l1_read read;
    int code = 0;

    if (!is_usable(l1)) {
        return false;
    }
    code = l1_file_begin_read(&l1->file, &read);
    if (code == 0) {
        code = read_object(&read, key, arena, entry);
        l1_file_end_read(&read);
    }
    if (code != 0 && l1_file_is_damage(code)) {
        give_up(l1, code);
    }
    return code == 0;
}

static bool is_later(struct l1_write *write, const struct catalog_key *key,
                     const struct catalog_entry *entry)
{
    struct catalog_entry kept;

    return read_object(&write->read, key, NULL, &kept) == 0 && kept.started > entry->started;
}

/* The text is written only if it has changed. */
static int put(struct l1_write *write, const struct catalog_key *key,
               const struct catalog_entry *entry)
{
    struct record record;
    struct str kept;

    memset(&record, 0, sizeof(record));
    record.exists = entry->exists ? 1 : 0;
    record.entry = *entry;
    record.entry.text = str_sized(NULL, 0);
    int code = l1_file_put_record(write, key, str_sized((const char *)&record, sizeof(record)));
    if (code != 0 || !entry->exists) {
        return code;
    }
    if (l1_file_text(&write->read, key, &kept) == 0 &&
        kept.n == entry->text.n + CATALOG_ETAG_TEXT &&
        memcmp(kept.p, entry->etag, CATALOG_ETAG_TEXT) == 0) {
        return 0;
    }
    return l1_file_put_text(write, key, str_sized(entry->etag, CATALOG_ETAG_TEXT), entry->text);
}

/* Makes room, if needed: drops what has expired, then everything. */
static int make_room(struct l1 *l1, struct l1_write *write, size_t wanted, int64_t now_us)
{
    int code = 0;

    if (l1_file_used(write) + wanted > l1->room / 2) {
        code = l1_file_drop(write, L1_RUN_OUT, offsetof(struct record, entry.stale_until), now_us);
    }
    if (code == 0 && l1_file_used(write) + wanted > l1->room / 2) {
        metrics_add(METRIC_CATALOG_L1_LOSSES, 1);
        code = l1_file_drop(write, L1_EVERYTHING, 0, now_us);
    }
    return code;
}

static int write_step(struct l1 *l1, const struct catalog_key *key,
                      const struct catalog_entry *entry, int64_t now_us)
{
    struct l1_write write;
    int code = l1_file_begin_write(&l1->file, &write);

    if (code != 0) {
        return code;
    }
    if (is_later(&write, key, entry)) {
        l1_file_abort(&write);
        return 0;
    }
    code = make_room(l1, &write, entry->text.n, now_us);
    if (code == 0) {
        code = put(&write, key, entry);
    }
    if (code != 0) {
        l1_file_abort(&write);
        return code;
    }
    return l1_file_commit(&write);
}

/* Less than half full, and still out of space: the free pages are fragmented, or a stopped reader
 * holds them. */
static void empty(struct l1 *l1)
{
    struct l1_write write;

    metrics_add(METRIC_CATALOG_L1_LOSSES, 1);
    l1_file_clear_readers(&l1->file);
    if (l1_file_begin_write(&l1->file, &write) == 0) {
        if (l1_file_drop(&write, L1_EVERYTHING, 0, 0) == 0) {
            (void)l1_file_commit(&write);
        } else {
            l1_file_abort(&write);
        }
    }
}

bool l1_write(struct l1 *l1, const struct catalog_key *key, const struct catalog_entry *entry,
              int64_t now_us)
{
    int code = 0;

    if (!is_usable(l1)) {
        return false;
    }
    if (entry->text.n > l1->room / 4) {
        metrics_add(METRIC_CATALOG_L1_LOSSES, 1);
        log_rarely(l1, "catalog.l1_full", "an object is larger than a quarter of catalog_l1_mib");
        return false;
    }
    if (!gate_enter(l1)) {
        return false;
    }
    code = write_step(l1, key, entry, now_us);
    if (l1_file_is_full(code)) {
        empty(l1);
        code = write_step(l1, key, entry, now_us);
    }
    gate_leave(l1);
    if (code != 0 && l1_file_is_damage(code)) {
        give_up(l1, code);
    } else if (code != 0) {
        log_rarely(l1, "catalog.l1_full", l1_file_error(code));
    }
    return code == 0;
}
