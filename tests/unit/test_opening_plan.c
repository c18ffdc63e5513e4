#include "tests/unit/unit.h"

#include "lib/admission/opening_plan.h"

static const struct opening_plan PLAN = {.users = 1000,
                                         .rate = 20,
                                         .max_active = 100000,
                                         .visit_s = 30,
                                         .pickup_s = 90,
                                         .order_p95_ms = 200};

static struct opening_forecast forecast_of(const struct opening_plan *plan)
{
    struct opening_forecast forecast;

    opening_plan_run(plan, &forecast);
    return forecast;
}

TEST(a_line_takes_as_long_as_the_rate_says)
{
    struct opening_forecast forecast = forecast_of(&PLAN);

    assert_true(forecast.complete);
    assert_int_equal(forecast.ends_s, 50);
    assert_int_equal(forecast.longest_line, 1000);
    assert_true(forecast.wait_p50_s >= 23 && forecast.wait_p50_s <= 26);
    assert_true(forecast.most_orders == 20);
    assert_false(forecast.room_limits || forecast.overloaded);
}

/* 100 poll every second, and those behind by the default tiers, with an eighth of jitter on average:
 * 900 every 2.25 s, 9,000 every 5.625 s, 90,000 every 11.25 s. */
TEST(a_line_polls_by_the_default_tiers)
{
    struct opening_plan plan = PLAN;

    plan.users = 100000;
    plan.rate = 1;
    double most = forecast_of(&plan).most_polls;
    assert_true(most > 100 + 400 + 1600 + 8000 - 1 && most < 100 + 400 + 1600 + 8000 + 1);
}

/* Also the orders of the very second after the last admission. */
TEST(orders_after_the_last_admission_count)
{
    for (int64_t visit_s = 1; visit_s <= 3; visit_s++) {
        struct opening_plan plan = PLAN;
        plan.users = 100;
        plan.rate = 1000;
        plan.visit_s = visit_s;
        struct opening_forecast forecast = forecast_of(&plan);
        assert_int_equal(forecast.ends_s, 1);
        assert_true(forecast.most_orders == 100);
        assert_int_equal(forecast.order_workers, 6);
    }
}

TEST(places_decide_where_they_are_fewer_than_the_rate_would_fill)
{
    struct opening_plan plan = PLAN;

    plan.max_active = 60;
    struct opening_forecast forecast = forecast_of(&plan);
    assert_true(forecast.room_limits);
    assert_int_equal(forecast.most_active, 60);
    assert_true(forecast.ends_s > 400);
}

TEST(no_shows_hold_their_places_and_order_nothing)
{
    struct opening_plan plan = PLAN;

    plan.no_shows = 0.5;
    struct opening_forecast forecast = forecast_of(&plan);
    assert_true(forecast.most_orders == 10);
    assert_true(forecast.most_active > forecast_of(&PLAN).most_active);
}

TEST(whoever_comes_slower_than_the_rate_does_not_wait)
{
    struct opening_plan plan = PLAN;

    plan.arrive_s = 200;
    struct opening_forecast forecast = forecast_of(&plan);
    assert_true(forecast.wait_p95_s <= 1);
    assert_true(forecast.most_polls < 20);
}

/* The load of those who are let in comes a minute later than they: the rate must neither end at
 * the floor nor swing. */
TEST(the_autopilot_makes_use_of_a_shop_whose_orders_come_late)
{
    struct opening_plan plan = PLAN;

    plan.users = 20000;
    plan.rate = 40;
    plan.visit_s = 60;
    plan.capacity = 30;
    plan.autopilot = true;
    plan.ceiling = 80;
    struct opening_forecast forecast = forecast_of(&plan);
    assert_true(forecast.complete && forecast.overloaded);
    assert_true(forecast.ends_s < 1200);
    assert_true(forecast.most_orders < 60);
}

TEST(a_line_without_end_is_not_simulated_to_its_end)
{
    struct opening_plan plan = PLAN;

    plan.users = 10000000;
    plan.rate = 1;
    struct opening_forecast forecast = forecast_of(&plan);
    assert_false(forecast.complete);
    assert_int_equal(forecast.ends_s, PLAN_SECONDS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_takes_as_long_as_the_rate_says),
        cmocka_unit_test(a_line_polls_by_the_default_tiers),
        cmocka_unit_test(orders_after_the_last_admission_count),
        cmocka_unit_test(places_decide_where_they_are_fewer_than_the_rate_would_fill),
        cmocka_unit_test(no_shows_hold_their_places_and_order_nothing),
        cmocka_unit_test(whoever_comes_slower_than_the_rate_does_not_wait),
        cmocka_unit_test(the_autopilot_makes_use_of_a_shop_whose_orders_come_late),
        cmocka_unit_test(a_line_without_end_is_not_simulated_to_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
