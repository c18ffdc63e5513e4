/*
 * The alphabets of ids, each held against its rule as it stands in the contract.
 */
#include "lib/base/identifier.h"

#include <string.h>

#include "lib/identity/visitor.h"
#include "tests/fuzz/fuzz.h"

#define DIGITS  "0123456789"
#define SMALL   "abcdefghijklmnopqrstuvwxyz"
#define CAPITAL "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

static bool only(struct str text, const char *alphabet, size_t most)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\0' || strchr(alphabet, text.p[i]) == NULL) {
            return false;
        }
    }
    return text.n >= 1 && text.n <= most;
}

static bool is_printable(struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < 0x20 || text.p[i] > 0x7e) {
            return false;
        }
    }
    return true;
}

static void ids(struct str text)
{
    bool slug = only(text, SMALL DIGITS "-", SLUG_MAX) && text.p[0] != '-';
    bool member = only(text, SMALL CAPITAL DIGITS "._:-", MEMBER_MAX);

    REQUIRE(identifier_is_slug(text) == slug);
    REQUIRE(identifier_is_member(text) == member);
    REQUIRE(identifier_is_seat(text) == only(text, SMALL CAPITAL DIGITS "._-", SEAT_MAX));
    REQUIRE(!(visitor_id_is(text) && member));
    REQUIRE(visitor_or_member_is(text) == (member || visitor_id_is(text)));
}

/* A key is the same within quotes and without. */
static void idempotency_keys(struct arena *arena, struct str text)
{
    struct str key;
    struct str quoted_key;

    if (!identifier_idempotency_key(text, &key)) {
        return;
    }
    REQUIRE(key.n >= 1 && key.n <= 255 && is_printable(key));
    char *quoted = arena_alloc(arena, key.n + 3);
    quoted[0] = '"';
    memcpy(quoted + 1, key.p, key.n);
    quoted[key.n + 1] = '"';
    if (memchr(key.p, '"', key.n) == NULL && memchr(key.p, '\\', key.n) == NULL) {
        REQUIRE(identifier_idempotency_key(str_sized(quoted, key.n + 2), &quoted_key));
        REQUIRE(str_equal(quoted_key, key));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ids(fuzz_text(data, size));
    idempotency_keys(fuzz_arena(), fuzz_text(data, size));
    return 0;
}
