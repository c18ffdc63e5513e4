#include "tests/unit/scratch.h"

#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATHS = 4, OPEN_FILES = 8 };

static char directory[64];

static void require(bool good, const char *what)
{
    if (!good) {
        perror(what);
        abort();
    }
}

static int remove_one(const char *path, const struct stat *found, int type, struct FTW *walk)
{
    (void)found;
    (void)type;
    (void)walk;
    return remove(path);
}

static void remove_all(void)
{
    (void)nftw(directory, remove_one, OPEN_FILES, FTW_DEPTH | FTW_PHYS);
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
