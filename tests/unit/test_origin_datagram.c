#include "tests/unit/unit.h"

#include <stdio.h>

#include "board/origin_load.h"

static struct load_counts counts;

static bool reads(const char *fields)
{
    struct origin_answer answer = {.network = {.n = 0}};
    char datagram[512];

    counts = (struct load_counts){.errors = 0};
    (void)snprintf(datagram, sizeof(datagram), "<190>Nov 30 02:47:23 sluice: |%s|", fields);
    return origin_load_read(str_of(datagram), &answer, &counts) &&
           str_equal(answer.queue, STR("shop"));
}

TEST(an_answer_counts_by_its_time)
{
    assert_true(reads("shop|200|0.250"));
    assert_int_equal(counts.buckets[order_load_bucket(250)], 1);
    assert_true(reads("shop|404|0.000"));
    assert_int_equal(counts.buckets[0], 1);
    assert_true(reads("shop|101|3600.000"));
    assert_int_equal(counts.buckets[LOAD_BUCKETS - 1], 1);
}

TEST(servers_that_were_tried_one_after_the_other_count_together)
{
    assert_true(reads("shop|502, 200|0.100, 0.150"));
    assert_int_equal(counts.errors, 0);
    assert_int_equal(counts.buckets[order_load_bucket(250)], 1);
    assert_true(reads("shop|504, 502|1.000, 0.001"));
    assert_int_equal(counts.errors, 1);
}

TEST(what_nginx_makes_of_a_failure_does_not_hide_it)
{
    assert_true(reads("shop|502 : 200|0.100 : 0.001"));
    assert_int_equal(counts.errors, 1);
    assert_true(reads("shop|200 : 204|0.100 : 9.000"));
    assert_int_equal(counts.buckets[order_load_bucket(100)], 1);
}

TEST(time_outs_and_those_who_gave_up_are_time_outs)
{
    assert_true(reads("shop|504|10.001"));
    assert_int_equal(counts.timeouts, 1);
    assert_true(reads("shop|-|1.500"));
    assert_int_equal(counts.timeouts, 1);
    assert_false(reads("shop|-|0.500"));
    assert_false(reads("shop|-|-"));
    assert_true(reads("shop|429|0.001"));
    assert_int_equal(counts.errors, 1);
}

TEST(the_clients_network_is_read_where_it_is_named)
{
    static const char WITH[] = "|shop|200|0.100|\\x7F\\x00|";
    static const char WITHOUT[] = "|shop|200|0.100|";
    struct origin_answer answer;

    assert_true(origin_load_read(str_of(WITH), &answer, &counts));
    assert_true(str_equal(answer.network, STR("\\x7F\\x00")));
    assert_true(origin_load_read(str_of(WITHOUT), &answer, &counts));
    assert_int_equal(answer.network.n, 0);
}

TEST(anything_else_is_nothing)
{
    static const char *const OTHERS[] = {"",
                                         "shop",
                                         "shop|200",
                                         "Shop|200|0.1",
                                         "|200|0.100",
                                         "other|200|0.100",
                                         "shop||",
                                         "shop|abc|0.100",
                                         "shop|200|-1.100",
                                         "shop|200|1e9.000",
                                         "shop|200|99999999999.000",
                                         ", , |, |, "};

    for (size_t i = 0; i < COUNT(OTHERS); i++) {
        assert_false(reads(OTHERS[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_counts_by_its_time),
        cmocka_unit_test(servers_that_were_tried_one_after_the_other_count_together),
        cmocka_unit_test(what_nginx_makes_of_a_failure_does_not_hide_it),
        cmocka_unit_test(time_outs_and_those_who_gave_up_are_time_outs),
        cmocka_unit_test(the_clients_network_is_read_where_it_is_named),
        cmocka_unit_test(anything_else_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
