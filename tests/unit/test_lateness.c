#include "tests/unit/unit.h"

#include "fcgi-app/pool/lateness.h"

/* Notes `late_ms` every 10 ms, from the moment `*now_ms` on, for `for_ms`. */
static void stay_late(struct lateness *lateness, int64_t late_ms, int64_t for_ms, int64_t *now_ms)
{
    for (int64_t end_ms = *now_ms + for_ms; *now_ms < end_ms; *now_ms += 10) {
        lateness_note(lateness, late_ms, *now_ms);
    }
}

TEST(who_was_never_late_is_on_time)
{
    struct lateness lateness = {0};

    assert_int_equal(lateness_ms(&lateness), 0);
}

TEST(one_long_turn_is_no_lateness)
{
    struct lateness lateness = {0};
    int64_t now_ms = 1000000;

    stay_late(&lateness, 3, 500, &now_ms);
    lateness_note(&lateness, 5000, now_ms + 5000);
    assert_int_equal(lateness_ms(&lateness), 3);
    lateness_note(&lateness, 2, now_ms + 5001);
    assert_int_equal(lateness_ms(&lateness), 2);
}

TEST(who_stays_late_is_late_after_two_windows_at_most)
{
    struct lateness lateness = {0};
    int64_t now_ms = 1000000;

    stay_late(&lateness, 1, 300, &now_ms);
    stay_late(&lateness, 700, (int64_t)2 * LATENESS_WINDOW_MS, &now_ms);
    assert_int_equal(lateness_ms(&lateness), 700);
    stay_late(&lateness, 900, (int64_t)2 * LATENESS_WINDOW_MS, &now_ms);
    assert_int_equal(lateness_ms(&lateness), 900);
}

TEST(whoever_is_on_time_again_is_so_at_once)
{
    struct lateness lateness = {0};
    int64_t now_ms = 1000000;

    stay_late(&lateness, 900, 500, &now_ms);
    lateness_note(&lateness, 0, now_ms);
    assert_int_equal(lateness_ms(&lateness), 0);
}

TEST(long_turns_one_after_another_are_a_lateness)
{
    struct lateness lateness = {0};

    for (int64_t now_ms = 1000000; now_ms < 1002000; now_ms += 400) {
        lateness_note(&lateness, 400, now_ms);
    }
    assert_int_equal(lateness_ms(&lateness), 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_was_never_late_is_on_time),
        cmocka_unit_test(one_long_turn_is_no_lateness),
        cmocka_unit_test(who_stays_late_is_late_after_two_windows_at_most),
        cmocka_unit_test(whoever_is_on_time_again_is_so_at_once),
        cmocka_unit_test(long_turns_one_after_another_are_a_lateness),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
