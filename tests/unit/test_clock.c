#include "tests/unit/unit.h"

#include "lib/base/clock.h"

TEST(instants_are_written_with_milliseconds_in_utc)
{
    static const struct {
        int64_t ms;
        const char *text;
    } CASES[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {1, "1970-01-01T00:00:00.001Z"},
        {951782400000, "2000-02-29T00:00:00.000Z"},
        {1769860800123, "2026-01-31T12:00:00.123Z"},
        {253402300799999, "9999-12-31T23:59:59.999Z"},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        char text[RFC3339_TEXT + 1];
        rfc3339_format(CASES[i].ms, text);
        assert_string_equal(text, CASES[i].text);
    }
}

TEST(date_times_with_a_zone_are_read)
{
    static const struct {
        const char *text;
        int64_t ms;
    } CASES[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2026-01-31T12:00:00.123Z", 1769860800123},
        {"2026-01-31t12:00:00.123z", 1769860800123},
        {"2026-01-31 12:00:00.123Z", 1769860800123},
        {"2026-01-31T21:00:00.123+09:00", 1769860800123},
        {"2026-01-31T07:30:00.123-04:30", 1769860800123},
        {"2026-01-31T12:00:00.1Z", 1769860800100},
        {"2026-01-31T12:00:00.123999999Z", 1769860800123},
        {"2024-02-29T00:00:00Z", 1709164800000},
        {"2016-12-31T23:59:60Z", 1483228800000}, /* a leap second is the next day's first */
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        int64_t ms = -1;
        if (!rfc3339_parse(str_of(CASES[i].text), &ms) || ms != CASES[i].ms) {
            fail_msg("'%s' gave %lld", CASES[i].text, (long long)ms);
        }
    }
}

TEST(anything_else_is_no_date_time)
{
    static const char *const REFUSED[] = {
        "",
        "now",
        "2026-01-31",
        "2026-01-31T12:00:00",
        "2026-01-31T12:00Z",
        "2026-1-31T12:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2025-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-01-32T00:00:00Z",
        "2026-01-31T24:00:00Z",
        "2026-01-31T12:60:00Z",
        "2026-01-31T12:00:61Z",
        "2026-01-31T12:00:00.Z",
        "2026-01-31T12:00:00.1234567890Z",
        "2026-01-31T12:00:00,5Z",
        "2026-01-31T12:00:00+0900",
        "2026-01-31T12:00:00+24:00",
        "2026-01-31T12:00:00+09:60",
        "2026-01-31T12:00:00Zx",
        " 2026-01-31T12:00:00Z",
        "2026-01-31T12:00:00Z ",
        "-026-01-31T12:00:00Z",
        "2026-01-31T-1:00:00Z",
        "1969-12-31T23:59:59Z",
        "1970-01-01T00:00:00+00:01",
        "2026/01/31T12:00:00Z",
        "9999-12-31T23:59:59Z",
        "9998-12-31T23:59:60Z",
        "9998-12-31T23:59:59-00:01",
        "2026-04-31T00:00:60Z",
        "2026-02-29T23:59:60Z",
        "2026-01-31T12:00:00.123",
    };

    for (size_t i = 0; i < COUNT(REFUSED); i++) {
        int64_t ms = 4711;
        if (rfc3339_parse(str_of(REFUSED[i]), &ms)) {
            fail_msg("'%s' was read as %lld", REFUSED[i], (long long)ms);
        }
        assert_int_equal(ms, 4711);
    }
}

TEST(what_is_written_is_read_again)
{
    for (int64_t ms = 0; ms < 253370000000000; ms += 1234567890123) {
        char text[RFC3339_TEXT + 1];
        int64_t again;
        rfc3339_format(ms, text);
        assert_true(rfc3339_parse(str_of(text), &again));
        assert_int_equal(again, ms);
    }
}

TEST(the_monotonic_clock_never_goes_back)
{
    int64_t before = clock_monotonic_ms();

    for (int i = 0; i < 1000; i++) {
        int64_t now = clock_monotonic_ms();
        assert_true(now >= before);
        before = now;
    }
    assert_true(clock_wall_ms() > 1700000000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instants_are_written_with_milliseconds_in_utc),
        cmocka_unit_test(date_times_with_a_zone_are_read),
        cmocka_unit_test(anything_else_is_no_date_time),
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(the_monotonic_clock_never_goes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
