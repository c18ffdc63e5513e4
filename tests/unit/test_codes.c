/*
 * codes: fresh ones cannot be guessed nor misread, and one is the same however it is typed.
 */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "lib/admission/line/codes.h"

TEST(fresh_codes_have_sixteen_letters_of_which_none_is_misread)
{
    char code[CODE_GENERATED_TEXT + 1];
    char other[CODE_GENERATED_TEXT + 1];
    int seen[128] = {0};

    code_generate(other);
    for (int i = 0; i < 2000; i++) {
        code_generate(code);
        assert_int_equal(strlen(code), CODE_GENERATED_TEXT);
        assert_true(code_is_sound(str_of(code)));
        assert_string_not_equal(code, other);
        for (size_t j = 0; j < CODE_GENERATED_TEXT; j++) {
            assert_int_equal(code[j] == '-', j % 5 == 4);
            seen[(unsigned char)code[j]]++;
        }
    }
    assert_int_equal(seen['I'] + seen['O'] + seen['0'] + seen['1'], 0);
    for (const char *letter = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"; *letter != '\0'; letter++) {
        /* 32000 letters, a thousand of each: six standard deviations are 187. */
        assert_in_range(seen[(unsigned char)*letter], 813, 1187);
    }
}

TEST(a_code_is_the_same_however_it_is_typed)
{
    struct arena *arena = arena_new();
    struct str hash = code_hash(arena, STR("7KQP-XM4D"));

    assert_int_equal(hash.n, SHA256_TEXT);
    assert_true(str_equal(hash, code_hash(arena, STR("7kqpxm4d"))));
    assert_true(str_equal(hash, code_hash(arena, STR(" 7KQ PXM-4D "))));
    assert_false(str_equal(hash, code_hash(arena, STR("7KQP-XM4E"))));
    assert_int_equal(code_hash(arena, STR("")).n, 0);
    assert_int_equal(code_hash(arena, STR("- -")).n, SHA256_TEXT);
    arena_free(arena);
}

TEST(what_may_be_given_out)
{
    static const char *const SOUND[] = {"abcd", "FAN CLUB", "a-b-c-d", "2026"};
    static const char *const UNSOUND[] = {"", "abc", "a-b-c", "abc_d", "abcd/", "fünf", "----"};
    char longest[CODE_TEXT_MAX + 2];

    for (size_t i = 0; i < COUNT(SOUND); i++) {
        assert_true(code_is_sound(str_of(SOUND[i])));
    }
    for (size_t i = 0; i < COUNT(UNSOUND); i++) {
        assert_false(code_is_sound(str_of(UNSOUND[i])));
    }
    memset(longest, 'a', sizeof(longest) - 1);
    longest[CODE_TEXT_MAX + 1] = '\0';
    assert_false(code_is_sound(str_of(longest)));
    assert_true(code_is_sound(str_sized(longest, CODE_TEXT_MAX)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fresh_codes_have_sixteen_letters_of_which_none_is_misread),
        cmocka_unit_test(a_code_is_the_same_however_it_is_typed),
        cmocka_unit_test(what_may_be_given_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
