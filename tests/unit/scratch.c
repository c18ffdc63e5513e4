#include "tests/unit/scratch.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATHS = 4 };

static char directory[64];

static void require(bool good, const char *what)
{
    if (!good) {
        perror(what);
        abort();
    }
}

static void remove_all(void)
{
    DIR *listing = opendir(directory);
    struct dirent *entry;

    while (listing != NULL && (entry = readdir(listing)) != NULL) {
        (void)unlinkat(dirfd(listing), entry->d_name, 0);
    }
    if (listing != NULL) {
        (void)closedir(listing);
    }
    (void)rmdir(directory);
}

const char *scratch_path(const char *name)
{
    static char paths[PATHS][PATH_MAX];
    static size_t next;

    if (directory[0] == '\0') {
        (void)snprintf(directory, sizeof(directory), "/tmp/sluice-unit-XXXXXX");
        require(mkdtemp(directory) != NULL, "mkdtemp");
        require(atexit(remove_all) == 0, "atexit");
    }
    char *path = paths[next++ % PATHS];
    (void)snprintf(path, PATH_MAX, "%s/%s", directory, name);
    return path;
}

const char *scratch_write(const char *name, const char *text, mode_t mode)
{
    const char *path = scratch_path(name);
    const char *fresh = scratch_path("fresh");
    FILE *file = fopen(fresh, "w");

    require(file != NULL && fputs(text, file) >= 0 && fchmod(fileno(file), mode) == 0 &&
                fclose(file) == 0 && rename(fresh, path) == 0,
            path);
    return path;
}
