#include "lib/metrics/metrics_file.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "lib/base/log.h"
#include "lib/base/shared_file.h"

static struct metrics_file own;
static struct metrics_file *in_use = &own;

/* All names with a slot in the file, in order. */
static const char *const NAMES[] = {
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

/* A hash of the names: a file with other rows is of another release. */
static uint64_t layout_of_rows(void)
{
    uint64_t hash = HASH_EMPTY ^ sizeof(struct metrics_file);

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        hash = hash_add(hash, NAMES[i], strlen(NAMES[i]));
        hash = hash_add(hash, "\n", 1);
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

bool metrics_open(const char *path)
{
    const struct {
        uint64_t layout;
        int64_t began;
    } head = {.layout = layout_of_rows(), .began = clock_wall_ms() / 1000};

    _Static_assert(offsetof(struct metrics_file, began) == sizeof(uint64_t),
                   "the head is the file's");
    int fd = shared_file_open(path, sizeof(struct metrics_file), &head, sizeof(head));
    if (fd < 0) {
        return false;
    }
    void *map = mmap(NULL, sizeof(struct metrics_file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int why = errno;
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
