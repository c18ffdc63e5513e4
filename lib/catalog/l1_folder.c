#include "lib/catalog/l1_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Only our user may write to it. */
static bool is_ours(const struct stat *about)
{
    return S_ISDIR(about->st_mode) && about->st_uid == geteuid() && (about->st_mode & 022) == 0;
}

bool l1_folder_open(struct l1_folder *folder, const char *directory)
{
    struct stat about;

    folder->fd = -1;
    if (mkdir(directory, 0700) != 0 && errno != EEXIST) {
        return false;
    }
    int fd = open(directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    if (fstat(fd, &about) != 0 || !is_ours(&about)) {
        (void)close(fd);
        errno = EPERM;
        return false;
    }
    folder->fd = fd;
    folder->device = about.st_dev;
    folder->inode = about.st_ino;
    /* LMDB accepts only names. */
    (void)snprintf(folder->path, sizeof(folder->path), "/proc/self/fd/%d", fd);
    return true;
}

bool l1_folder_is_in_place(const struct l1_folder *folder, const char *directory)
{
    struct stat about;

    return folder->fd >= 0 && lstat(directory, &about) == 0 && is_ours(&about) &&
           about.st_dev == folder->device && about.st_ino == folder->inode;
}

void l1_folder_close(struct l1_folder *folder)
{
    if (folder->fd >= 0) {
        (void)close(folder->fd);
        folder->fd = -1;
    }
}
