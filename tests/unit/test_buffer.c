#include "tests/unit/unit.h"

#include <string.h>

#include "lib/base/buffer.h"

TEST(what_is_appended_is_there_in_order)
{
    struct buffer buffer;

    buffer_init(&buffer, 100);
    buffer_add(&buffer, STR("a"));
    buffer_add_char(&buffer, 'b');
    buffer_add_int(&buffer, INT64_MIN);
    buffer_format(&buffer, "[%d]", 7);
    buffer_add(&buffer, str_of(NULL));
    assert_true(buffer_ok(&buffer));
    assert_text(buffer_text(&buffer), "ab-9223372036854775808[7]");
    buffer_free(&buffer);
}

TEST(an_overflow_sticks_until_the_buffer_is_cleared)
{
    struct buffer buffer;

    buffer_init(&buffer, 4);
    buffer_add(&buffer, STR("1234"));
    assert_true(buffer_ok(&buffer));
    buffer_add_char(&buffer, '5');
    assert_false(buffer_ok(&buffer));
    buffer_add(&buffer, STR(""));
    assert_false(buffer_ok(&buffer));
    buffer_clear(&buffer);
    buffer_format(&buffer, "%s", "abcd");
    assert_true(buffer_ok(&buffer));
    buffer_format(&buffer, "%s", "e");
    assert_false(buffer_ok(&buffer));
    buffer_free(&buffer);
}

TEST(a_buffer_grows_far_beyond_its_first_room)
{
    struct buffer buffer;

    buffer_init(&buffer, 1000000);
    for (int i = 0; i < 100000; i++) {
        buffer_add(&buffer, STR("0123456789"));
    }
    assert_true(buffer_ok(&buffer));
    assert_int_equal(buffer_text(&buffer).n, 1000000);
    buffer_free(&buffer);
}

TEST(json_strings_are_escaped_and_bytes_that_are_no_utf8_replaced)
{
    static const struct {
        struct str text;
        const char *json;
    } CASES[] = {
        {{"", 0}, "\"\""},
        {{"plain", 5}, "\"plain\""},
        {{"\"\\/", 3}, "\"\\\"\\\\/\""},
        {{"a\nb\tc\r", 6}, "\"a\\nb\\u0009c\\u000d\""},
        {{"\0\x1f\x7f", 3}, "\"\\u0000\\u001f\\u007f\""},
        {{"\xc3\xa4", 2}, "\"\xc3\xa4\""},
        {{"\xe2\x82\xac", 3}, "\"\xe2\x82\xac\""},
        {{"\xf0\x9f\x98\x80", 4}, "\"\xf0\x9f\x98\x80\""},
        {{"\xf4\x8f\xbf\xbf", 4}, "\"\xf4\x8f\xbf\xbf\""},
        {{"\x80", 1}, "\"\xef\xbf\xbd\""}, /* lone continuation */
        {{"\xff", 1}, "\"\xef\xbf\xbd\""},
        {{"\xc3", 1}, "\"\xef\xbf\xbd\""}, /* cut off */
        {{"\xc3"
          "a",
          2},
         "\"\xef\xbf\xbd"
         "a\""},
        {{"\xe2\x82", 2}, "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {{"\xc0\xaf", 2}, "\"\xef\xbf\xbd\xef\xbf\xbd\""}, /* overlong '/' */
        {{"\xe0\x80\xaf", 3}, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {{"\xed\xa0\x80", 3}, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* surrogate */
        {{"\xf4\x90\x80\x80", 4}, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct buffer buffer;
        buffer_init(&buffer, 200);
        buffer_add_json_string(&buffer, CASES[i].text);
        assert_true(buffer_ok(&buffer));
        assert_text(buffer_text(&buffer), CASES[i].json);
        buffer_free(&buffer);
    }
}

TEST(a_json_string_that_does_not_fit_is_no_success)
{
    struct buffer buffer;

    buffer_init(&buffer, 6);
    buffer_add_json_string(&buffer, STR("12345"));
    assert_false(buffer_ok(&buffer));
    buffer_free(&buffer);
}

TEST(json_times_are_null_outside_of_what_can_be_written)
{
    static const struct {
        int64_t ms;
        const char *json;
    } CASES[] = {
        {0, "\"1970-01-01T00:00:00.000Z\""},
        {253402300799999, "\"9999-12-31T23:59:59.999Z\""},
        {-1, "null"},
        {253402300800000, "null"},
        {INT64_MAX, "null"},
        {INT64_MIN, "null"},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct buffer buffer;
        buffer_init(&buffer, 64);
        buffer_add_json_time(&buffer, CASES[i].ms);
        assert_true(str_equal(buffer_text(&buffer), str_of(CASES[i].json)));
        buffer_free(&buffer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_appended_is_there_in_order),
        cmocka_unit_test(an_overflow_sticks_until_the_buffer_is_cleared),
        cmocka_unit_test(a_buffer_grows_far_beyond_its_first_room),
        cmocka_unit_test(json_strings_are_escaped_and_bytes_that_are_no_utf8_replaced),
        cmocka_unit_test(a_json_string_that_does_not_fit_is_no_success),
        cmocka_unit_test(json_times_are_null_outside_of_what_can_be_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
