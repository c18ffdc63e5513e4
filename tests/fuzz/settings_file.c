/*
 * Settings files: what was read is printed, and what is printed is read as the same. Connection
 * strings are shown without what stands behind a password.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/settings/conninfo.h"
#include "lib/settings/settings.h"
#include "tests/fuzz/fuzz.h"

enum {
    SHOWN_MAX = 256 * 1024,
    CONNINFO_SHOWN_MAX = 512 /* a mask may be longer than its password, and the bound is 1024 */
};

/* All settings as lines of a file. */
static struct str printed(struct arena *arena, const struct settings *settings)
{
    char *bytes = NULL;
    size_t n = 0;
    FILE *stream = open_memstream(&bytes, &n);

    if (stream == NULL) {
        abort();
    }
    settings_print(stream, settings);
    (void)fclose(stream);
    struct str text = str_sized(arena_copy(arena, str_sized(bytes, n)), n);
    free(bytes);
    return text;
}

static void is_shown(struct str conninfo)
{
    struct buffer shown;

    buffer_init(&shown, SHOWN_MAX);
    conninfo_add_masked(&shown, conninfo);
    struct str text = buffer_text(&shown);
    for (size_t i = 0; i < text.n; i++) {
        REQUIRE(text.p[i] != '\0' || (conninfo.n > 0 && memchr(conninfo.p, '\0', conninfo.n)));
    }
    buffer_free(&shown);
}

/* A password of letters in a string of words never shows. */
static void hides_password(struct arena *arena, struct str before)
{
    static const char PASSWORD[] = " password=TopSecret7";
    char *text = arena_alloc(arena, before.n + sizeof(PASSWORD));
    struct buffer shown;

    if (before.n > 0) {
        memcpy(text, before.p, before.n);
    }
    memcpy(text + before.n, PASSWORD, sizeof(PASSWORD) - 1);
    buffer_init(&shown, SHOWN_MAX);
    conninfo_add_masked(&shown, str_sized(text, before.n + sizeof(PASSWORD) - 1));
    buffer_add_char(&shown, '\0');
    REQUIRE(memmem(shown.bytes, shown.length, "TopSecret7", 10) == NULL);
    buffer_free(&shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = fuzz_arena();
    struct str input = fuzz_text(data, size);
    char error[SETTINGS_ERROR] = "";
    struct settings settings;

    is_shown(input);
    if (memmem(data, size, "TopSecret7", 10) == NULL && !str_starts(input, STR("postgres"))) {
        hides_password(arena, input);
    }
    if (!settings_load(fuzz_file(input), &settings, error)) {
        REQUIRE(error[0] != '\0');
        return 0;
    }
    struct str first = printed(arena, &settings);
    bool may_be_too_long = strlen(settings.postgres_conninfo) > CONNINFO_SHOWN_MAX;
    settings_free(&settings);
    if (!settings_load(fuzz_file(first), &settings, error)) {
        REQUIRE(may_be_too_long);
        return 0;
    }
    REQUIRE(str_equal(printed(arena, &settings), first));
    settings_free(&settings);
    return 0;
}
