#include "lib/identity/watched_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Records what stat() says now. Returns whether it differs from the previous record. */
static bool read_status(struct watched_file *file)
{
    struct watched_file before = *file;
    struct stat status;

    file->there = stat(file->path, &status) == 0;
    if (!file->there) {
        return before.there;
    }
    file->device = status.st_dev;
    file->inode = status.st_ino;
    file->size = status.st_size;
    file->modified = status.st_mtim;
    file->changed = status.st_ctim;
    return !before.there || file->device != before.device || file->inode != before.inode ||
           file->size != before.size || file->modified.tv_sec != before.modified.tv_sec ||
           file->modified.tv_nsec != before.modified.tv_nsec ||
           file->changed.tv_sec != before.changed.tv_sec ||
           file->changed.tv_nsec != before.changed.tv_nsec;
}

void watched_file_init(struct watched_file *file, const char *path, int64_t now_monotonic_ms)
{
    *file = (struct watched_file){.path = strdup(path), .looked_at_ms = now_monotonic_ms};
    if (file->path == NULL) {
        abort();
    }
    (void)read_status(file);
}

void watched_file_free(struct watched_file *file)
{
    free(file->path);
    file->path = NULL;
}

bool watched_file_changed(struct watched_file *file, int64_t now_monotonic_ms)
{
    if (now_monotonic_ms - file->looked_at_ms < WATCH_INTERVAL_MS) {
        return false;
    }
    file->looked_at_ms = now_monotonic_ms;
    return read_status(file) && file->there;
}
