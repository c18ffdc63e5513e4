#include "tests/unit/unit.h"

#include "lib/base/str.h"

TEST(a_split_gives_what_is_before_and_behind_the_first_delimiter)
{
    struct str head;
    struct str rest;

    assert_true(str_split(STR("a.b.c"), '.', &head, &rest));
    assert_text(head, "a");
    assert_text(rest, "b.c");
    assert_true(str_split(STR("."), '.', &head, &rest));
    assert_text(head, "");
    assert_text(rest, "");
}

TEST(a_split_without_a_delimiter_gives_everything_as_head)
{
    struct str head;
    struct str rest;

    assert_false(str_split(STR("abc"), '.', &head, &rest));
    assert_text(head, "abc");
    assert_text(rest, "");
    assert_false(str_split(str_of(NULL), '.', &head, &rest));
    assert_text(head, "");
}

TEST(trimming_takes_spaces_and_tabs_off_both_ends)
{
    assert_text(str_trim(STR(" \t a b\t ")), "a b");
    assert_text(str_trim(STR("   ")), "");
    assert_text(str_trim(str_of(NULL)), "");
}

TEST(a_prefix_is_found_at_the_beginning_only)
{
    assert_true(str_starts(STR("Bearer x"), STR("Bearer ")));
    assert_true(str_starts(STR("x"), STR("")));
    assert_false(str_starts(STR("Bear"), STR("Bearer")));
    assert_false(str_starts(STR("xBearer"), STR("Bearer")));
}

TEST(text_with_a_nul_inside_is_compared_whole)
{
    assert_false(str_equal(STR("a\0b"), STR("a\0c")));
    assert_true(str_equal(STR("a\0b"), STR("a\0b")));
    assert_true(str_equal(str_of(NULL), STR("")));
}

TEST(whole_numbers_are_read_within_their_range)
{
    static const struct {
        const char *text;
        int64_t min;
        int64_t max;
        int64_t value;
        bool good;
    } CASES[] = {
        {"0", 0, 9, 0, true},
        {"9", 0, 9, 9, true},
        {"10", 0, 9, 0, false},
        {"-1", 0, 9, 0, false},
        {"-1", -1, 9, -1, true},
        {"007", 0, 9, 7, true},
        {"9223372036854775807", INT64_MIN, INT64_MAX, INT64_MAX, true},
        {"-9223372036854775808", INT64_MIN, INT64_MAX, INT64_MIN, true},
        {"9223372036854775808", INT64_MIN, INT64_MAX, 0, false},
        {"-9223372036854775809", INT64_MIN, INT64_MAX, 0, false},
        {"99999999999999999999999", INT64_MIN, INT64_MAX, 0, false},
        {"", 0, 9, 0, false},
        {"-", INT64_MIN, INT64_MAX, 0, false},
        {"+1", 0, 9, 0, false},
        {" 1", 0, 9, 0, false},
        {"1 ", 0, 9, 0, false},
        {"1.0", 0, 9, 0, false},
        {"1e1", 0, 99, 0, false},
        {"0x1", 0, 99, 0, false},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        int64_t value = 4711;
        bool good = str_to_int64(str_of(CASES[i].text), CASES[i].min, CASES[i].max, &value);
        if (good != CASES[i].good || value != (good ? CASES[i].value : 4711)) {
            fail_msg("'%s' gave %d, %lld", CASES[i].text, good, (long long)value);
        }
    }
}

TEST(whole_numbers_are_written_as_they_are_read)
{
    static const char *const TEXTS[] = {"0",
                                        "7",
                                        "10",
                                        "-1",
                                        "-90",
                                        "1234567890123456789",
                                        "9223372036854775807",
                                        "-9223372036854775808"};

    for (size_t i = 0; i < COUNT(TEXTS); i++) {
        char text[STR_INT64_TEXT + 1];
        int64_t value;
        assert_true(str_to_int64(str_of(TEXTS[i]), INT64_MIN, INT64_MAX, &value));
        assert_int_equal(str_from_int64(value, text), strlen(TEXTS[i]));
        assert_string_equal(text, TEXTS[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_split_gives_what_is_before_and_behind_the_first_delimiter),
        cmocka_unit_test(a_split_without_a_delimiter_gives_everything_as_head),
        cmocka_unit_test(trimming_takes_spaces_and_tabs_off_both_ends),
        cmocka_unit_test(a_prefix_is_found_at_the_beginning_only),
        cmocka_unit_test(text_with_a_nul_inside_is_compared_whole),
        cmocka_unit_test(whole_numbers_are_read_within_their_range),
        cmocka_unit_test(whole_numbers_are_written_as_they_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
