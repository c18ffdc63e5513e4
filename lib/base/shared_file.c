#include "lib/base/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Each removal of a file of another release begins anew. */
enum { ATTEMPTS = 8 };

/* The lock is held for some system calls only: whoever holds it longer stands still. */
enum { LOCK_ATTEMPTS = 100, LOCK_PAUSE_MS = 20 };

enum prepared {
    PREPARED_OURS,
    PREPARED_OTHER, /* it has another size or layout */
    PREPARED_FAILED /* errno is set */
};

/* To be called with the file locked. */
static enum prepared prepare(int fd, size_t size, const void *head, size_t head_size)
{
    uint64_t found = 0;
    struct stat about;

    if (fstat(fd, &about) != 0) {
        return PREPARED_FAILED;
    }
    if (about.st_size == 0) {
        /* Programs of other users in the group write here too, whatever the umask. Fails harmlessly
         * if one of them created the file and got no further: only its owner may do this. */
        (void)fchmod(fd, 0660);
        bool written =
            ftruncate(fd, (off_t)size) == 0 && pwrite(fd, head, head_size, 0) == (ssize_t)head_size;
        return written ? PREPARED_OURS : PREPARED_FAILED;
    }
    bool ours = about.st_size == (off_t)size &&
                pread(fd, &found, sizeof(found), 0) == (ssize_t)sizeof(found) &&
                memcmp(&found, head, sizeof(found)) == 0;
    return ours ? PREPARED_OURS : PREPARED_OTHER;
}

/* Whether `path` still is the file that was opened: while this process waited for the lock, another
 * one may have removed it and created its successor. */
static bool is_still(const char *path, int fd)
{
    struct stat opened, named;

    return fstat(fd, &opened) == 0 && lstat(path, &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

/* Waits for at most LOCK_ATTEMPTS pauses: a process that stands still must not keep all others from
 * starting. False with errno ETIMEDOUT then, or set by flock(). */
static bool lock(int fd)
{
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000000L};

    for (int i = 0; i < LOCK_ATTEMPTS; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            return true;
        }
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return false;
        }
        (void)nanosleep(&pause, NULL);
    }
    errno = ETIMEDOUT;
    return false;
}

/* -1 with errno set, EAGAIN if the file was of another release and has been removed. */
static int open_once(const char *path, size_t size, const void *head, size_t head_size)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0660);

    if (fd < 0) {
        return -1;
    }
    enum prepared prepared = PREPARED_FAILED;
    int why = EAGAIN;
    if (!lock(fd)) {
        why = errno;
    } else if (is_still(path, fd)) {
        prepared = prepare(fd, size, head, head_size);
        why = errno;
    }
    if (prepared == PREPARED_OTHER) {
        why = unlink(path) == 0 || errno == ENOENT ? EAGAIN : errno;
    }
    /* Explicitly: a mapping keeps the open file, and with it the lock, alive. */
    (void)flock(fd, LOCK_UN);
    if (prepared == PREPARED_OURS) {
        return fd;
    }
    (void)close(fd);
    errno = why;
    return -1;
}

int shared_file_open(const char *path, size_t size, const void *head, size_t head_size)
{
    int fd = -1;

    errno = EAGAIN;
    for (int i = 0; i < ATTEMPTS && fd < 0 && errno == EAGAIN; i++) {
        fd = open_once(path, size, head, head_size);
    }
    return fd;
}
