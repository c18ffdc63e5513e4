#include "lib/metrics/metrics_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"

static struct metrics_file own;
static struct metrics_file *in_use = &own;

/* All names with a slot in the file, in order. */
static const char *const PLACES[] = {
    "cells",
#define METRIC(name, type, text, labels, help) #name,
#include "lib/metrics/metrics.tbl"
    "histograms",
#define HISTOGRAM(name, text, labels, help) #name,
#include "lib/metrics/metrics.tbl"
    "queues",
#define QUEUE_METRIC(name, type, others, text, labels, help) #name,
#include "lib/metrics/metrics.tbl"
    "waits",
#define QUEUE_HISTOGRAM(name, text, labels, help) #name,
#include "lib/metrics/metrics.tbl"
};

/* FNV-1a of the names: a file with other rows is of another release. */
static uint64_t layout_of_rows(void)
{
    uint64_t hash = 0xcbf29ce484222325U ^ sizeof(struct metrics_file);

    for (size_t i = 0; i < sizeof(PLACES) / sizeof(PLACES[0]); i++) {
        for (const char *p = PLACES[i]; *p != '\0'; p++) {
            hash = (hash ^ (unsigned char)*p) * 0x100000001b3U;
        }
        hash = (hash ^ (unsigned char)'\n') * 0x100000001b3U;
    }
    return hash;
}

struct metrics_file *metrics_file(void)
{
    if (in_use == &own && own.began == 0) {
        own.began = clock_wall_ms() / 1000;
    }
    return in_use;
}

/* To be called with the file locked. Returns 1 if the file has our layout, 0 if it has
 * another, -1 with errno set. */
static int prepare(int fd)
{
    const struct {
        uint64_t layout;
        int64_t began;
    } head = {.layout = layout_of_rows(), .began = clock_wall_ms() / 1000};
    uint64_t found = 0;
    struct stat about;

    _Static_assert(offsetof(struct metrics_file, began) == sizeof(uint64_t),
                   "the head is the file's");
    if (fstat(fd, &about) != 0) {
        return -1;
    }
    if (about.st_size == 0) {
        /* Programs of other users in the group count here too, whatever the umask. Fails harmlessly
         * if one of them created the file and got no further: only its owner may do this. */
        (void)fchmod(fd, 0660);
        bool written = ftruncate(fd, (off_t)sizeof(struct metrics_file)) == 0 &&
                       pwrite(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head);
        return written ? 1 : -1;
    }
    if (about.st_size != (off_t)sizeof(struct metrics_file) ||
        pread(fd, &found, sizeof(found), 0) != (ssize_t)sizeof(found)) {
        return 0;
    }
    return found == head.layout ? 1 : 0;
}

/* -1 with errno set, EAGAIN if the file was of another release and has been removed. */
static int open_locked(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0660);

    if (fd < 0) {
        return -1;
    }
    int ours = flock(fd, LOCK_EX) == 0 ? prepare(fd) : -1;
    if (ours == 1) {
        return fd;
    }
    if (ours == 0) {
        errno = unlink(path) == 0 || errno == ENOENT ? EAGAIN : errno;
    }
    int why = errno;
    (void)close(fd);
    errno = why;
    return -1;
}

bool metrics_open(const char *path)
{
    int fd = open_locked(path);

    if (fd < 0 && errno == EAGAIN) {
        fd = open_locked(path);
    }
    if (fd < 0) {
        return false;
    }
    void *map = mmap(NULL, sizeof(struct metrics_file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int why = errno;
    /* Unlocked explicitly: the mapping keeps the open file, and with it the lock, alive. */
    (void)flock(fd, LOCK_UN);
    (void)close(fd);
    errno = why;
    if (map == MAP_FAILED) {
        return false;
    }
    if (in_use != &own) {
        (void)munmap(in_use, sizeof(*in_use));
    }
    in_use = map;
    return true;
}

void metrics_start(const char *path)
{
    if (path[0] != '\0' && !metrics_open(path)) {
        log_event(LOG_LEVEL_WARNING, "metrics.unusable",
                  LOG_FIELDS(LOG_TEXT("why", strerror(errno))));
    }
}
