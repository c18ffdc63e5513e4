/*
 * base64url and hexadecimal: what is encoded is decoded to the same, and every text that is decoded
 * is the only one that says so.
 */
#include "lib/base/encoding.h"

#include "tests/fuzz/fuzz.h"

static void there_and_back(struct arena *arena, struct str input)
{
    char *text = arena_alloc(arena, 2 * input.n + 3);
    unsigned char *bytes = arena_alloc(arena, input.n + 1);
    size_t length = 0;

    size_t n = base64url_encode(input.p, input.n, text);
    REQUIRE(n == BASE64URL_LENGTH(input.n) && text[n] == '\0');
    REQUIRE(base64url_decode(str_sized(text, n), bytes, input.n, &length));
    REQUIRE(str_equal(str_sized((char *)bytes, length), input));
    REQUIRE(n == 0 || !base64url_decode(str_sized(text, n), bytes, input.n - 1, &length));

    hex_encode(input.p, input.n, text);
    REQUIRE(hex_decode(str_sized(text, 2 * input.n), bytes, input.n));
    REQUIRE(str_equal(str_sized((char *)bytes, input.n), input));
}

static void back_and_there(struct arena *arena, struct str input)
{
    unsigned char *bytes = arena_alloc(arena, input.n + 1);
    char *text = arena_alloc(arena, 2 * input.n + 3);
    size_t length = 0;

    if (base64url_decode(input, bytes, input.n, &length)) {
        size_t n = base64url_encode(bytes, length, text);
        REQUIRE(str_equal(str_sized(text, n), input));
    }
    if (hex_decode(input, bytes, input.n / 2)) {
        hex_encode(bytes, input.n / 2, text);
        REQUIRE(str_equal(str_of(text), input));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = fuzz_arena();

    there_and_back(arena, fuzz_text(data, size));
    back_and_there(arena, fuzz_text(data, size));
    return 0;
}
