#include "tests/unit/unit.h"

#include <string.h>

#include "lib/base/identifier.h"

static char long_text[300];

static struct str repeated(char c, size_t n)
{
    memset(long_text, c, n);
    return str_sized(long_text, n);
}

TEST(slugs_are_lower_case_letters_digits_and_inner_dashes)
{
    static const char *const GOOD[] = {"a", "0", "spring-sale", "a-", "2026"};
    static const char *const BAD[] = {"", "-a", "A", "a_b", "a.b", "a/b", "a b", "\xc3\xa4", "a\n"};

    for (size_t i = 0; i < COUNT(GOOD); i++) {
        assert_true(identifier_is_slug(str_of(GOOD[i])));
    }
    for (size_t i = 0; i < COUNT(BAD); i++) {
        assert_false(identifier_is_slug(str_of(BAD[i])));
    }
    assert_true(identifier_is_slug(repeated('a', 63)));
    assert_false(identifier_is_slug(repeated('a', 64)));
    assert_false(identifier_is_slug(STR("a\0")));
}

TEST(member_ids_have_their_alphabet_and_no_tilde)
{
    static const char *const GOOD[] = {"a", "A.b_c:d-9", "-", "auth0:123"};
    static const char *const BAD[] = {"",   "v~x", "a b",      "a/b", "a|b",
                                      "a%", "a\"", "\xc3\xa4", "a\n"};

    for (size_t i = 0; i < COUNT(GOOD); i++) {
        assert_true(identifier_is_member(str_of(GOOD[i])));
    }
    for (size_t i = 0; i < COUNT(BAD); i++) {
        assert_false(identifier_is_member(str_of(BAD[i])));
    }
    assert_true(identifier_is_member(repeated('x', 64)));
    assert_false(identifier_is_member(repeated('x', 65)));
    assert_false(identifier_is_member(STR("a\0b")));
}

TEST(seat_ids_have_their_alphabet)
{
    static const char *const GOOD[] = {"A-12-7", "floor.1", "_", "9"};
    static const char *const BAD[] = {"", "A 1", "A/1", "A:1", "a|b", "\xc3\xa4", "a\n"};

    for (size_t i = 0; i < COUNT(GOOD); i++) {
        assert_true(identifier_is_seat(str_of(GOOD[i])));
    }
    for (size_t i = 0; i < COUNT(BAD); i++) {
        assert_false(identifier_is_seat(str_of(BAD[i])));
    }
    assert_true(identifier_is_seat(repeated('x', 32)));
    assert_false(identifier_is_seat(repeated('x', 33)));
}

TEST(an_idempotency_key_counts_the_same_bare_or_quoted)
{
    struct str key;

    assert_true(identifier_idempotency_key(STR("8e03"), &key));
    assert_text(key, "8e03");
    assert_true(identifier_idempotency_key(STR(" \"8e03\" "), &key));
    assert_text(key, "8e03");
    assert_true(identifier_idempotency_key(repeated('k', 255), &key));
    assert_int_equal(key.n, 255);
}

TEST(an_idempotency_key_that_is_empty_long_or_not_printable_is_refused)
{
    struct str key;

    assert_false(identifier_idempotency_key(STR(""), &key));
    assert_false(identifier_idempotency_key(STR("\"\""), &key));
    assert_false(identifier_idempotency_key(STR("   "), &key));
    assert_false(identifier_idempotency_key(repeated('k', 256), &key));
    assert_false(identifier_idempotency_key(STR("a\x01"), &key));
    assert_false(identifier_idempotency_key(STR("a\0b"), &key));
    assert_false(identifier_idempotency_key(STR("\xc3\xa4"), &key));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slugs_are_lower_case_letters_digits_and_inner_dashes),
        cmocka_unit_test(member_ids_have_their_alphabet_and_no_tilde),
        cmocka_unit_test(seat_ids_have_their_alphabet),
        cmocka_unit_test(an_idempotency_key_counts_the_same_bare_or_quoted),
        cmocka_unit_test(an_idempotency_key_that_is_empty_long_or_not_printable_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
