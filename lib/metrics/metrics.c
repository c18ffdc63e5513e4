#include "lib/metrics/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CACHE_LINE = 64 };

/* A line of its own for each, so that counting in one core does not slow down another. */
struct cell {
    _Alignas(CACHE_LINE) _Atomic int64_t value;
};

struct counters {
    _Alignas(CACHE_LINE) uint64_t layout; /* which release's rows these are */
    struct cell cells[METRIC_COUNT];
};

static struct counters own;
static struct counters *counters = &own;

static const struct {
    const char *name;
    const char *type;
    const char *labels;
    const char *help;
} ROWS[] = {
#define TYPE_COUNTER                           "counter"
#define METRIC(name, type, text, labels, help) {text, TYPE_##type, labels, help},
#include "lib/metrics/metrics.tbl"
#undef METRIC
};

/* FNV-1a of the names: files of other rows are not ours. */
static uint64_t layout_of_rows(void)
{
    uint64_t hash = 0xcbf29ce484222325U;

    for (size_t i = 0; i < METRIC_COUNT; i++) {
        for (const char *p = ROWS[i].name; *p != '\0'; p++) {
            hash = (hash ^ (unsigned char)*p) * 0x100000001b3U;
        }
        for (const char *p = ROWS[i].labels; *p != '\0'; p++) {
            hash = (hash ^ (unsigned char)*p) * 0x100000001b3U;
        }
    }
    return hash;
}

/* Locked by the caller. Returns 1 where the file is ours, 0 where it is another's, -1 with errno. */
static int prepare(int fd)
{
    uint64_t layout = layout_of_rows();
    uint64_t found = 0;
    struct stat about;

    if (fstat(fd, &about) != 0) {
        return -1;
    }
    if (about.st_size == 0) {
        bool written = ftruncate(fd, (off_t)sizeof(struct counters)) == 0 &&
                       pwrite(fd, &layout, sizeof(layout), 0) == (ssize_t)sizeof(layout);
        return written ? 1 : -1;
    }
    if (about.st_size != (off_t)sizeof(struct counters) ||
        pread(fd, &found, sizeof(found), 0) != (ssize_t)sizeof(found)) {
        return 0;
    }
    return found == layout ? 1 : 0;
}

/* -1 with errno, EAGAIN where the file was another release's and is gone now. */
static int open_locked(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

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
    void *map = mmap(NULL, sizeof(struct counters), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int why = errno;
    (void)flock(fd, LOCK_UN); /* the mapping would keep it */
    (void)close(fd);
    errno = why;
    if (map == MAP_FAILED) {
        return false;
    }
    if (counters != &own) {
        (void)munmap(counters, sizeof(*counters));
    }
    counters = map;
    return true;
}

void metrics_add(enum metric metric, int64_t n)
{
    (void)atomic_fetch_add_explicit(&counters->cells[metric].value, n, memory_order_relaxed);
}

int64_t metrics_value(enum metric metric)
{
    return atomic_load_explicit(&counters->cells[metric].value, memory_order_relaxed);
}

void metrics_format(struct buffer *out)
{
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        const char *labels = ROWS[i].labels;
        if (i == 0 || strcmp(ROWS[i].name, ROWS[i - 1].name) != 0) {
            buffer_format(out, "# HELP %s %s\n# TYPE %s %s\n", ROWS[i].name, ROWS[i].help,
                          ROWS[i].name, ROWS[i].type);
        }
        buffer_format(out, "%s%s%s%s %lld\n", ROWS[i].name, labels[0] != '\0' ? "{" : "", labels,
                      labels[0] != '\0' ? "}" : "", (long long)metrics_value((enum metric)i));
    }
}
