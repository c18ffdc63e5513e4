/*
 * Whole numbers and times: what is read and written again is the same value.
 */
#include "lib/base/clock.h"
#include "tests/fuzz/fuzz.h"

static void numbers(struct str text)
{
    char written[STR_INT64_TEXT + 1];
    int64_t value;
    int64_t again;

    if (!str_to_int64(text, INT64_MIN, INT64_MAX, &value)) {
        return;
    }
    size_t n = str_from_int64(value, written);
    REQUIRE(n <= STR_INT64_TEXT && written[n] == '\0');
    REQUIRE(str_to_int64(str_sized(written, n), INT64_MIN, INT64_MAX, &again) && again == value);
    REQUIRE(n <= text.n);
    REQUIRE(!str_to_int64(text, INT64_MIN, value - (value > INT64_MIN), &again) ||
            value == INT64_MIN);
}

/* The text begins with a day that there is. */
static bool is_date(struct str text)
{
    static const int64_t DAYS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t year;
    int64_t month;
    int64_t day;

    REQUIRE(str_to_int64(str_sized(text.p, 4), 1970, 9999, &year));
    REQUIRE(str_to_int64(str_sized(text.p + 5, 2), 1, 12, &month));
    REQUIRE(str_to_int64(str_sized(text.p + 8, 2), 1, 31, &day));
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day <= DAYS[month - 1] + (leap && month == 2);
}

static void times(struct str text)
{
    static const int64_t LAST = 253402300799999;
    char written[RFC3339_TEXT + 1];
    int64_t ms;
    int64_t again;

    if (rfc3339_parse(text, &ms)) {
        REQUIRE(ms >= 0 && ms <= LAST);
        REQUIRE(is_date(text));
        rfc3339_format(ms, written);
        REQUIRE(rfc3339_parse(str_of(written), &again) && again == ms);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    numbers(fuzz_text(data, size));
    times(fuzz_text(data, size));
    return 0;
}
