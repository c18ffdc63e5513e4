#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/encoding.h"
#include "lib/base/log.h"

enum { PATH_ROOM = 40 };

#define RING                                                                                       \
    "a:QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE\n"                                              \
    "b:QkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkI\n"

void fuzz_broken(const char *file, int line, const char *promise)
{
    (void)fprintf(stderr, "%s:%d: broken: %s\n", file, line, promise);
    abort();
}

struct arena *fuzz_arena(void)
{
    static struct arena *arena;

    if (arena == NULL) {
        log_start("fuzz", LOG_LEVEL_ERROR);
        arena = arena_new();
    }
    arena_reset(arena);
    return arena;
}

static void release(void *bytes)
{
    free(bytes);
}

struct str fuzz_line(struct arena *arena, struct str *rest)
{
    struct str line;

    (void)str_split(*rest, '\n', &line, rest);
    if (line.n == 0) {
        return str_sized(NULL, 0);
    }
    char *copy = malloc(line.n);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, line.p, line.n);
    arena_on_reset(arena, release, copy);
    return str_sized(copy, line.n);
}

int64_t fuzz_number(struct arena *arena, struct str *rest)
{
    int64_t number = 0;

    (void)str_to_int64(fuzz_line(arena, rest), INT64_MIN, INT64_MAX, &number);
    return number;
}

/* Gives `content` to the file behind `fd`, which is made where there is none yet. */
static void fill(int *fd, char path[PATH_ROOM], struct str content)
{
    if (*fd < 0) {
        *fd = memfd_create("fuzz", MFD_CLOEXEC);
        if (*fd < 0 || fchmod(*fd, 0600) != 0) {
            abort();
        }
        (void)snprintf(path, PATH_ROOM, "/proc/self/fd/%d", *fd);
    }
    if (ftruncate(*fd, 0) != 0 ||
        (content.n > 0 && pwrite(*fd, content.p, content.n, 0) != (ssize_t)content.n)) {
        abort();
    }
}

const char *fuzz_file(struct str content)
{
    static char path[PATH_ROOM];
    static int fd = -1;

    fill(&fd, path, content);
    return path;
}

struct key_set *fuzz_keys(void)
{
    static char path[PATH_ROOM];
    static int fd = -1;
    static struct key_set *keys;
    char error[SECRET_ERROR];

    if (keys == NULL) {
        fill(&fd, path, STR(RING));
        keys = key_set_open(path, error);
        REQUIRE(keys != NULL);
    }
    return keys;
}

static size_t append(char *text, size_t n, struct str more)
{
    if (more.n > 0) {
        memcpy(text + n, more.p, more.n);
    }
    return n + more.n;
}

struct str fuzz_signed(struct arena *arena, struct str purpose, struct str text)
{
    const struct str version = STR("v1.a.");
    unsigned char mac[SHA256_BYTES];

    char *whole = arena_alloc(arena, purpose.n + version.n + text.n + 1 + SHA256_TEXT + 1);
    size_t n = append(whole, append(whole, append(whole, 0, purpose), version), text);
    mac_key_sign(key_set_signer(fuzz_keys())->mac, str_sized(whole, n), mac);
    whole[n++] = '.';
    n += base64url_encode(mac, sizeof(mac), whole + n);
    return str_sized(whole + purpose.n, n - purpose.n);
}

struct str fuzz_changed(struct arena *arena, struct str text, size_t where)
{
    char *changed = arena_copy(arena, text);

    where %= text.n;
    changed[where] = changed[where] == 'A' ? 'B' : 'A';
    return str_sized(changed, text.n);
}
