#include "lib/base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/crypto.h>

static bool refuse(char error[SECRET_ERROR], const char *path, const char *why)
{
    (void)snprintf(error, SECRET_ERROR, "%s: %s", path, why);
    return false;
}

static bool read_open_file(int fd, const char *path, char **bytes, size_t *length,
                           char error[SECRET_ERROR])
{
    struct stat status;

    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        return refuse(error, path, "is not a regular file");
    }
    /* A group of its own may read it: one that a program is in beside that of its user. */
    bool is_for_a_group =
        (status.st_mode & (S_IWGRP | S_IXGRP | S_IRWXO)) == 0 && status.st_gid != getegid();
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0 && !is_for_a_group) {
        return refuse(error, path, "others may read it; run: chmod 600");
    }
    if (status.st_size < 1 || status.st_size > SECRET_MAX) {
        return refuse(error, path, "is empty or larger than 64 KiB");
    }
    size_t size = (size_t)status.st_size;
    char *text = calloc(1, size + 1);
    if (text == NULL) {
        abort();
    }
    size_t have = 0;
    while (have < size) {
        ssize_t got = read(fd, text + have, size - have);
        if (got <= 0) {
            secret_free(text, size);
            return refuse(error, path, "could not be read to its end");
        }
        have += (size_t)got;
    }
    *bytes = text;
    *length = size;
    return true;
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
