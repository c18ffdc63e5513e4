/*
 * Percent-decoding, held against a second, slower reading of the same rules.
 */
#include "fcgi-app/http/percent.h"

#include <stdio.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

/* The value of two hexadecimal digits, -1 where there are none. */
static int pair(const char *p, size_t n)
{
    static const char DIGITS[] = "0123456789abcdefABCDEF";
    const char *high = n < 2 || p[0] == '\0' ? NULL : strchr(DIGITS, p[0]);
    const char *low = n < 2 || p[1] == '\0' ? NULL : strchr(DIGITS, p[1]);

    if (high == NULL || low == NULL) {
        return -1;
    }
    int first = (int)(high - DIGITS);
    int second = (int)(low - DIGITS);
    return (first > 15 ? first - 6 : first) * 16 + (second > 15 ? second - 6 : second);
}

/* What `text` decodes to; false where it is none. */
static bool expected(struct arena *arena, struct str text, bool keep_slash, struct str *out)
{
    char *bytes = arena_alloc(arena, text.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] != '%') {
            bytes[n++] = text.p[i];
            continue;
        }
        int value = pair(text.p + i + 1, text.n - i - 1);
        if (value <= 0) {
            return false;
        }
        if (value == '/' && keep_slash) {
            memcpy(bytes + n, text.p + i, 3);
            n += 3;
        } else {
            bytes[n++] = (char)value;
        }
        i += 2;
    }
    *out = str_sized(bytes, n);
    return true;
}

static void is_as_expected(struct arena *arena, struct str text, bool keep_slash)
{
    struct str wanted;
    struct str found;
    bool good = percent_decode(arena, text, keep_slash, &found);

    REQUIRE(good == expected(arena, text, keep_slash, &wanted));
    REQUIRE(!good || str_equal(found, wanted));
}

/* Everything escaped comes back as it was, but for NUL, which is refused. */
static void there_and_back(struct arena *arena, struct str input)
{
    char *escaped = arena_alloc(arena, 3 * input.n + 1);
    struct str found;

    for (size_t i = 0; i < input.n; i++) {
        (void)snprintf(escaped + 3 * i, 4, i % 2 == 0 ? "%%%02x" : "%%%02X",
                       (unsigned int)(unsigned char)input.p[i]);
    }
    bool has_nul = input.n > 0 && memchr(input.p, '\0', input.n) != NULL;
    REQUIRE(percent_decode(arena, str_sized(escaped, 3 * input.n), false, &found) == !has_nul);
    REQUIRE(has_nul || str_equal(found, input));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = fuzz_arena();
    struct str text = fuzz_text(data, size);

    is_as_expected(arena, text, false);
    is_as_expected(arena, text, true);
    there_and_back(arena, text);
    return 0;
}
