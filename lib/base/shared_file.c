#include "lib/base/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* -1 with errno set, EAGAIN if the file was of another release and has been removed. */
static int open_once(const char *path, size_t size, const void *head, size_t head_size)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0660);

    if (fd < 0) {
        return -1;
    }
    enum prepared prepared =
        flock(fd, LOCK_EX) == 0 ? prepare(fd, size, head, head_size) : PREPARED_FAILED;
    int why = errno;
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
    int fd = open_once(path, size, head, head_size);

    return fd < 0 && errno == EAGAIN ? open_once(path, size, head, head_size) : fd;
}
