#include "tests/unit/unit.h"

#include "lib/admission/autopilot/load_view.h"

TEST(a_quantile_lies_where_its_part_does)
{
    struct load_counts before = {.errors = 0};
    struct load_counts now = {.errors = 0};
    struct load_view view = {.answered = 0};

    now.buckets[order_load_bucket(10)] = 90;
    now.buckets[order_load_bucket(500)] = 10;
    assert_true(load_view_quantile(&view, 0.5) < 0);
    assert_true(load_view_add(&view, &before, &now, 1));
    assert_true(load_view_quantile(&view, 0.5) > 8 && load_view_quantile(&view, 0.5) < 11.4);
    assert_true(load_view_quantile(&view, 0.95) > 362 && load_view_quantile(&view, 0.95) < 512);
    for (int i = 0; i < 30; i++) {
        assert_true(load_view_add(&view, &now, &now, 1));
    }
    assert_true(load_view_quantile(&view, 0.5) < 0);
}

TEST(a_bucket_reaches_up_to_its_end)
{
    assert_int_equal(order_load_bucket(0), 0);
    assert_int_equal(order_load_bucket(1), 0);
    assert_int_equal(order_load_bucket(1.1), 1);
    assert_int_equal(order_load_bucket(1e9), LOAD_BUCKETS - 1);
    for (int i = 0; i < LOAD_BUCKETS; i++) {
        assert_int_equal(order_load_bucket(order_load_bucket_end(i)), i);
    }
    assert_text(order_load_answered(256), "b16");
    assert_text(order_load_answered(257), "b17");
}

TEST(fields_of_redis_find_their_counts)
{
    struct load_counts orders = {.errors = 0};
    struct load_counts origin = {.errors = 0};

    order_load_read_field(STR("b31"), 5, &orders, &origin);
    order_load_read_field(STR("o0"), 6, &orders, &origin);
    order_load_read_field(STR("busy"), 7, &orders, &origin);
    order_load_read_field(STR("oTimeouts"), 8, &orders, &origin);
    order_load_read_field(STR("b32"), 9, &orders, &origin);
    order_load_read_field(STR("b"), 9, &orders, &origin);
    order_load_read_field(STR("x1"), 9, &orders, &origin);
    assert_int_equal(orders.buckets[31], 5);
    assert_int_equal(origin.buckets[0], 6);
    assert_int_equal(orders.busy, 7);
    assert_int_equal(origin.timeouts, 8);
}

TEST(too_many_at_once_counts_as_dropped)
{
    struct load_counts before = {.errors = 0};
    struct load_counts now = {.busy = 3, .errors = 1};
    struct load_view view = {.answered = 0};

    now.buckets[4] = 36;
    assert_true(load_view_dropped(&view) == 0);
    assert_true(load_view_add(&view, &before, &now, 1));
    assert_true(load_view_dropped(&view) > 0.0999 && load_view_dropped(&view) < 0.1001);
    assert_false(load_view_add(&view, &now, &before, 1));
    assert_true(load_view_dropped(&view) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quantile_lies_where_its_part_does),
        cmocka_unit_test(a_bucket_reaches_up_to_its_end),
        cmocka_unit_test(fields_of_redis_find_their_counts),
        cmocka_unit_test(too_many_at_once_counts_as_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
