#include "lib/catalog/l1_host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/catalog/l1_file.h"

enum {
    BOOT_TEXT = 36,
    LINE_TEXT = RANDOM_ID_TEXT + 1 + BOOT_TEXT,
    TRIES = 200,
    PAUSE_NS = 5000000
};

void l1_host_invent(struct l1_host *host)
{
    random_id(host->name);
}

/* Reads up to the first `n` bytes of the file, NUL-terminated. */
static void read_start(const char *path, char *text, size_t n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t got = fd < 0 ? 0 : read(fd, text, n);

    text[got < 0 ? 0 : got] = '\0';
    if (fd >= 0) {
        (void)close(fd);
    }
}

static bool write_line(const char *directory, const char *path, const char *line)
{
    char fresh[L1_PATH_MAX];

    (void)snprintf(fresh, sizeof(fresh), "%s/host.new", directory);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return false;
    }
    bool written = write(fd, line, LINE_TEXT) == (ssize_t)LINE_TEXT;
    return close(fd) == 0 && written && rename(fresh, path) == 0;
}

static bool read_or_create(struct l1_host *host, const char *directory,
                           void (*forget)(const char *directory))
{
    char path[L1_PATH_MAX];
    char boot[BOOT_TEXT + 1];
    char line[LINE_TEXT + 1];

    read_start("/proc/sys/kernel/random/boot_id", boot, BOOT_TEXT);
    (void)snprintf(path, sizeof(path), "%s/host", directory);
    read_start(path, line, LINE_TEXT);
    if (strlen(line) == LINE_TEXT && strcmp(line + RANDOM_ID_TEXT + 1, boot) == 0) {
        (void)snprintf(host->name, sizeof(host->name), "%.*s", (int)RANDOM_ID_TEXT, line);
        return true;
    }
    l1_host_invent(host);
    forget(directory);
    (void)snprintf(line, sizeof(line), "%s %-*.*s", host->name, (int)BOOT_TEXT, (int)BOOT_TEXT,
                   boot);
    return write_line(directory, path, line);
}

bool l1_host_read(struct l1_host *host, struct host_locks *locks, const char *directory,
                  void (*forget)(const char *directory))
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};

    for (int i = 0; i < TRIES; i++) {
        if (host_lock_try(locks, STR("host"))) {
            bool good = read_or_create(host, directory, forget);
            host_lock_leave(locks, STR("host"));
            return good;
        }
        (void)nanosleep(&pause, NULL);
    }
    errno = EBUSY;
    return false;
}
