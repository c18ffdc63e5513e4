/*
 * The header Cookie. First line: the name that is looked for; the rest is the header.
 */
#include <string.h>

#include "fcgi-app/http/request.h"
#include "tests/fuzz/fuzz.h"

/* A cookie that is put before all others is the first that is found, as far as its value can be
 * one. */
static void comes_first(struct arena *arena, struct str name, struct str header)
{
    static const struct str VALUE = {"v1.a.b", 6};
    char *longer = arena_alloc(arena, name.n + VALUE.n + header.n + 3);
    size_t n = 0;

    if (name.n == 0 || memchr(name.p, ';', name.n) != NULL || memchr(name.p, '=', name.n) != NULL ||
        !str_equal(str_trim(name), name)) {
        return;
    }
    memcpy(longer, name.p, name.n);
    longer[name.n] = '=';
    memcpy(longer + name.n + 1, VALUE.p, VALUE.n);
    n = name.n + 1 + VALUE.n;
    longer[n++] = ';';
    if (header.n > 0) {
        memcpy(longer + n, header.p, header.n);
        n += header.n;
    }
    struct request request = {.cookies = str_sized(longer, n)};
    REQUIRE(str_equal(request_cookie(&request, name), VALUE));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = fuzz_arena();
    struct str rest = fuzz_text(data, size);
    struct str name = fuzz_line(arena, &rest);
    struct request request = {.arena = arena, .cookies = rest};
    struct str left = rest;
    struct str value;
    size_t found = 0;

    while (request_next_cookie(&left, name, &value)) {
        REQUIRE(value.n == 0 || (value.p >= rest.p && value.p + value.n <= rest.p + rest.n));
        REQUIRE(value.n == 0 || memchr(value.p, ';', value.n) == NULL);
        REQUIRE(found > 0 || str_equal(request_cookie(&request, name), value));
        found++;
    }
    REQUIRE(found <= rest.n && left.n == 0);
    REQUIRE(found > 0 || request_cookie(&request, name).n == 0);
    comes_first(arena, name, rest);
    return 0;
}
