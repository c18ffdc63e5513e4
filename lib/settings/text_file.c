#include "lib/settings/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/read_file.h"

static bool refuse(char error[TEXT_FILE_ERROR], const char *path, const char *why)
{
    (void)snprintf(error, TEXT_FILE_ERROR, "%s: %s", path, why);
    return false;
}

static bool read_open_file(int fd, const char *path, size_t maximum, char **bytes, size_t *length,
                           char error[TEXT_FILE_ERROR])
{
    struct stat status;

    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        return refuse(error, path, "is not a regular file");
    }
    if ((status.st_mode & S_IWOTH) != 0) {
        return refuse(error, path, "everyone may change it; run: chmod o-w");
    }
    if ((uintmax_t)status.st_size > maximum) {
        return refuse(error, path, "is too large");
    }
    *length = (size_t)status.st_size;
    *bytes = read_file(fd, *length);
    return *bytes != NULL || refuse(error, path, "could not be read to its end");
}

bool text_file_read(const char *path, size_t maximum, char **bytes, size_t *length,
                    char error[TEXT_FILE_ERROR])
{
    /* O_NONBLOCK, because opening a FIFO would otherwise block before it can be refused. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0) {
        return refuse(error, path, strerror(errno));
    }
    bool read_whole = read_open_file(fd, path, maximum, bytes, length, error);
    (void)close(fd);
    return read_whole;
}
