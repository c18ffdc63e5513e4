#include "lib/base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "lib/base/read_file.h"

static bool refuse(char error[SECRET_ERROR], const char *path, const char *why)
{
    (void)snprintf(error, SECRET_ERROR, "%s: %s", path, why);
    return false;
}

/* The key's group may read it if that group was made for the purpose: one of our supplementary
 * groups, or root's. Root itself need not be a member, as it checks other users' keys. */
static bool is_ours_beside(gid_t group)
{
    int count = getgroups(0, NULL);
    gid_t *groups = calloc(count > 0 ? (size_t)count : 1, sizeof(*groups));
    bool found = group == 0 || geteuid() == 0;

    if (groups == NULL) {
        abort();
    }
    count = count > 0 ? getgroups(count, groups) : 0;
    for (int i = 0; !found && i < count; i++) {
        found = groups[i] == group;
    }
    free(groups);
    return found && group != getegid();
}

static bool read_open_file(int fd, const char *path, char **bytes, size_t *length,
                           char error[SECRET_ERROR])
{
    struct stat status;

    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        return refuse(error, path, "is not a regular file");
    }
    if ((status.st_mode & (S_IWGRP | S_IXGRP | S_IRWXO)) != 0) {
        return refuse(error, path, "others may read or change it; run: chmod 600");
    }
    if ((status.st_mode & S_IRGRP) != 0 && !is_ours_beside(status.st_gid)) {
        return refuse(
            error, path,
            "its group may read it, and is not one that this program's user was put into; "
            "run: chmod 600, or chgrp");
    }
    if (status.st_size < 1 || status.st_size > SECRET_MAX) {
        return refuse(error, path, "is empty or larger than 64 KiB");
    }
    *length = (size_t)status.st_size;
    *bytes = read_file(fd, *length);
    return *bytes != NULL || refuse(error, path, "could not be read to its end");
}

bool secret_read(const char *path, char **bytes, size_t *length, char error[SECRET_ERROR])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0) {
        return refuse(error, path, strerror(errno));
    }
    bool read_whole = read_open_file(fd, path, bytes, length, error);
    (void)close(fd);
    return read_whole;
}

void secret_free(char *bytes, size_t length)
{
    if (bytes != NULL) {
        OPENSSL_cleanse(bytes, length);
        free(bytes);
    }
}
