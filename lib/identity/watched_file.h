/*
 * watched_file — detects changes of a file, by at most one stat() a second.
 */
#ifndef SLUICE_IDENTITY_WATCHED_FILE_H
#define SLUICE_IDENTITY_WATCHED_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum { WATCH_INTERVAL_MS = 1000 };

struct watched_file {
    char *path;
    int64_t looked_at_ms; /* last check, monotonic */
    bool there;
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified;
    struct timespec changed; /* changes with chmod too, so that a refused file is retried */
};

/** Records the file's present state. Call it before reading the file. `path` is copied. */
void watched_file_init(struct watched_file *file, const char *path, int64_t now_monotonic_ms);

/** Releases the path. Harmless for a zeroed or already released one. */
void watched_file_free(struct watched_file *file);

/** True once after each change. False within a second of the last check, and while the file is
 *  missing. */
bool watched_file_changed(struct watched_file *file, int64_t now_monotonic_ms);

#endif
