#include "board/board_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/identifier.h"

enum {
    SLOT_MS = 16, /* 63 of them make a second */
    SLOTS = 64,
    LEFT_OVER_AFTER_MS = 10000 /* no writer takes that long for one file */
};

static const struct str FINISHED = {.p = ".json", .n = 5};
static const struct str HALF_WRITTEN = {.p = ".new", .n = 4};

static char *path_of(struct arena *arena, const char *directory, const char *queue)
{
    return arena_format(arena, "%s/%s.json", directory, queue);
}

static void pad(struct buffer *document, int64_t wall_ms)
{
    size_t slot = (size_t)(wall_ms % 1000 / SLOT_MS);

    while (buffer_ok(document) && document->length % SLOTS != slot) {
        buffer_add_char(document, '\n');
    }
}

static bool write_all(int file, struct str text)
{
    while (text.n > 0) {
        ssize_t written = write(file, text.p, text.n);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        if (written > 0) {
            text = str_sized(text.p + written, text.n - (size_t)written);
        }
    }
    return true;
}

static bool fill(int file, struct str text, int64_t wall_ms)
{
    struct timespec moment = {.tv_sec = (time_t)(wall_ms / 1000),
                              .tv_nsec = (long)(wall_ms % 1000) * 1000000};
    struct timespec times[2] = {moment, moment};

    /* fchmod: the umask must not keep nginx from reading it. */
    return write_all(file, text) && fchmod(file, 0644) == 0 && futimens(file, times) == 0;
}

bool board_file_write(struct arena *arena, const char *directory, const char *writer,
                      const char *queue, struct buffer *document, int64_t wall_ms)
{
    char *beside = arena_format(arena, "%s/.%s.%s%s", directory, queue, writer, HALF_WRITTEN.p);

    pad(document, wall_ms);
    if (!buffer_ok(document)) {
        errno = EFBIG;
        return false;
    }
    int file = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file < 0) {
        return false;
    }
    bool filled = fill(file, buffer_text(document), wall_ms);
    int why = errno;
    if (close(file) != 0 && filled) {
        filled = false;
        why = errno;
    }
    if (filled && rename(beside, path_of(arena, directory, queue)) == 0) {
        return true;
    }
    why = filled ? errno : why;
    (void)unlink(beside);
    errno = why;
    return false;
}

bool board_file_remove(struct arena *arena, const char *directory, const char *queue)
{
    return unlink(path_of(arena, directory, queue)) == 0 || errno == ENOENT;
}

/* Removes `ending` from `name`; returns false if it does not end with it. */
static bool strip_suffix(struct str *name, struct str ending)
{
    if (name->n < ending.n ||
        !str_equal(str_sized(name->p + name->n - ending.n, ending.n), ending)) {
        return false;
    }
    name->n -= ending.n;
    return true;
}

static void remove_left_over(int directory, const char *name)
{
    struct stat found;

    if (fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(found.st_mode) &&
        clock_wall_ms() - (int64_t)found.st_mtime * 1000 > LEFT_OVER_AFTER_MS) {
        (void)unlinkat(directory, name, 0);
    }
}

void board_file_list(struct arena *arena, const char *directory,
                     void (*visit)(void *context, struct str queue), void *context)
{
    DIR *stream = opendir(directory);
    const struct dirent *entry;

    if (stream == NULL) {
        return;
    }
    while ((entry = readdir(stream)) != NULL) {
        struct str name = str_of(arena_copy(arena, str_of(entry->d_name)));
        if (name.n > 0 && name.p[0] == '.') {
            if (strip_suffix(&name, HALF_WRITTEN)) {
                remove_left_over(dirfd(stream), entry->d_name);
            }
        } else if (strip_suffix(&name, FINISHED) && identifier_is_slug(name)) {
            visit(context, name);
        }
    }
    (void)closedir(stream);
}
