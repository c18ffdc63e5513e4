#include "lib/catalog/host_lock.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/digest.h"

bool host_locks_open(struct host_locks *locks, const char *path)
{
    locks->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    return locks->fd >= 0;
}

void host_locks_close(struct host_locks *locks)
{
    if (locks->fd >= 0) {
        (void)close(locks->fd);
        locks->fd = -1;
    }
}

/* A lock is one byte, far behind the end of the empty file, at an offset given by 62 bits of the
 * name's digest, so that names do not collide. */
static bool change(struct host_locks *locks, struct str name, short kind)
{
    struct flock lock = {.l_type = kind, .l_whence = SEEK_SET, .l_len = 1};
    unsigned char digest[SHA256_BYTES];
    uint64_t place = 0;

    if (locks->fd < 0) {
        return true;
    }
    sha256(name, digest);
    memcpy(&place, digest, sizeof(place));
    lock.l_start = (off_t)(place >> 2);
    /* Owned by the open file description, not by the process: no other close() releases it. */
    return fcntl(locks->fd, F_OFD_SETLK, &lock) == 0;
}

bool host_lock_try(struct host_locks *locks, struct str name)
{
    return change(locks, name, F_WRLCK);
}

void host_lock_leave(struct host_locks *locks, struct str name)
{
    (void)change(locks, name, F_UNLCK);
}
