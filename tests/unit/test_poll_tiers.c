#include "tests/unit/unit.h"

#include "lib/admission/line/poll_tiers.h"

enum { DRAWS = 1000 };

/** Every pause at `rank` is `seconds`, with up to a quarter of jitter if `jittered`. */
static void assert_pauses(struct str tiers, int64_t rank, int64_t seconds, bool jittered)
{
    int64_t shortest = INT64_MAX;
    int64_t longest = 0;

    for (int i = 0; i < DRAWS; i++) {
        struct poll_pause pause = poll_tiers_pause(tiers, rank);
        assert_int_equal(pause.seconds, seconds);
        shortest = pause.retry_ms < shortest ? pause.retry_ms : shortest;
        longest = pause.retry_ms > longest ? pause.retry_ms : longest;
    }
    assert_true(shortest >= seconds * 1000);
    if (jittered) {
        assert_true(longest <= seconds * 1250);
        /* The draws spread over nearly all of the quarter. */
        assert_true(longest - shortest > seconds * 200);
    } else {
        assert_int_equal(longest, seconds * 1000);
    }
}

/* As the contract says. */
TEST(default_tiers)
{
    static const struct {
        int64_t rank;
        int64_t seconds;
    } EXPECTED[] = {{0, 1},     {100, 1},    {101, 2},     {1000, 2},    {1001, 5},
                    {10000, 5}, {10001, 10}, {100000, 10}, {100001, 30}, {INT64_MAX, 30}};

    for (size_t i = 0; i < COUNT(EXPECTED); i++) {
        int64_t rank = EXPECTED[i].rank;
        assert_pauses(STR(""), rank, EXPECTED[i].seconds, rank > 100);
    }
    assert_int_equal(poll_tiers_longest_ms(STR("")), 37500);
}

TEST(own_tiers_replace_them_and_the_last_one_has_no_end)
{
    struct str own = STR("[{\"upToRank\":2,\"seconds\":3},{\"upToRank\":7,\"seconds\":40},"
                         "{\"upToRank\":9,\"seconds\":20}]");

    assert_pauses(own, 2, 3, false);
    assert_pauses(own, 3, 40, true);
    assert_pauses(own, 7, 40, true);
    assert_pauses(own, 8, 20, true);
    assert_pauses(own, 1000000, 20, true);
    assert_int_equal(poll_tiers_longest_ms(own), 50000);
}

TEST(a_first_tier_that_holds_a_crowd_has_jitter)
{
    struct str alone = STR("[{\"upToRank\":null,\"seconds\":40}]");

    assert_pauses(alone, 0, 40, true);
    assert_int_equal(poll_tiers_longest_ms(alone), 50000);
    assert_pauses(STR("[{\"upToRank\":101,\"seconds\":4}]"), 0, 4, true);
    assert_pauses(STR("[{\"upToRank\":100,\"seconds\":4}]"), 0, 4, false);
}

TEST(unusable_tiers_are_the_default_ones)
{
    assert_pauses(STR("[]"), 101, 2, true);
    assert_pauses(STR("[{\"upToRank\":2}]"), 101, 2, true);
    assert_pauses(STR("[{\"upToRank\":2,\"seconds\":0}]"), 101, 2, true);
    assert_pauses(STR("no JSON"), 101, 2, true);
}

TEST(a_fixed_pause_has_no_jitter)
{
    struct poll_pause pause = poll_tiers_fixed(5);

    assert_int_equal(pause.seconds, 5);
    assert_int_equal(pause.retry_ms, 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_tiers),
        cmocka_unit_test(own_tiers_replace_them_and_the_last_one_has_no_end),
        cmocka_unit_test(a_first_tier_that_holds_a_crowd_has_jitter),
        cmocka_unit_test(unusable_tiers_are_the_default_ones),
        cmocka_unit_test(a_fixed_pause_has_no_jitter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
