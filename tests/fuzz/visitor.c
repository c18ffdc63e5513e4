/*
 * Visitor cookies. The input is taken as a cookie's value, as what stands in a signed one behind
 * the name of the key, and as a time at which one is issued.
 */
#include "lib/identity/visitor.h"

#include "tests/fuzz/fuzz.h"

#define ID "v~AAAAAAAAAAAAAAAAAAAAAA"

static const int64_t NOW_MS = INT64_C(1800000000000);
static const int64_t MAX_AGE_S = 86400;

/* What we have signed, whatever it is, has one spelling. */
static void signed_text(struct arena *arena, struct str input)
{
    char id[VISITOR_ID_TEXT + 1];
    char again[VISITOR_COOKIE_TEXT + 1];
    int64_t issued;
    struct str value = fuzz_signed(arena, STR("sluice visitor cookie\n"), input);

    if (visitor_cookie_verify(fuzz_keys(), value, MAX_AGE_S, NOW_MS, id)) {
        struct str name;
        struct str seconds;
        REQUIRE(str_split(input, '.', &name, &seconds) && str_equal(name, str_of(id)));
        REQUIRE(visitor_id_is(name) && str_to_int64(seconds, 0, INT64_MAX, &issued));
        REQUIRE(issued <= NOW_MS / 1000 + VISITOR_CLOCK_SKEW_S);
        REQUIRE(issued >= NOW_MS / 1000 - MAX_AGE_S);
        size_t length = visitor_cookie_make(fuzz_keys(), name, issued * 1000, again);
        REQUIRE(str_equal(str_sized(again, length), value));
    }
}

static void issued_then(struct str input)
{
    static const int64_t LAST_S = 253402300799;
    char value[VISITOR_COOKIE_TEXT + 1];
    char id[VISITOR_ID_TEXT + 1];
    int64_t issued;

    if (!str_to_int64(input, 0, LAST_S, &issued)) {
        return;
    }
    size_t n = visitor_cookie_make(fuzz_keys(), STR(ID), issued * 1000, value);
    int64_t age = NOW_MS / 1000 - issued;
    bool good = visitor_cookie_verify(fuzz_keys(), str_sized(value, n), MAX_AGE_S, NOW_MS, id);
    REQUIRE(good == (age >= -VISITOR_CLOCK_SKEW_S && age <= MAX_AGE_S));
    REQUIRE(!good || str_equal(str_of(id), STR(ID)));
    value[(size_t)issued % n] ^= 1;
    REQUIRE(!visitor_cookie_verify(fuzz_keys(), str_sized(value, n), MAX_AGE_S, NOW_MS, id));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = fuzz_arena();
    struct str input = fuzz_text(data, size);
    char id[VISITOR_ID_TEXT + 1];

    REQUIRE(!visitor_cookie_verify(fuzz_keys(), input, MAX_AGE_S, NOW_MS, id));
    signed_text(arena, input);
    issued_then(input);
    return 0;
}
