#include "tests/unit/unit.h"

#include <math.h>

#include "lib/base/arena.h"
#include "sluicectl/report/report_figures.h"
#include "sluicectl/report/svg_chart.h"

static const char POINTS[] =
    "[{\"at\":\"2026-03-01T12:00:00.000Z\",\"entered\":60,\"consumed\":0,\"waiting\":60},"
    "{\"at\":\"2026-03-01T12:01:00.000Z\",\"entered\":180,\"consumed\":6,\"waiting\":170,"
    "\"withdrawn\":null},"
    "{\"at\":\"2026-03-01T12:04:00.000Z\",\"entered\":360,\"consumed\":6,\"waiting\":40},"
    "{\"at\":\"2026-03-01T12:05:00.000Z\",\"entered\":30,\"consumed\":3,\"waiting\":12}]";
enum { NOON = 1772366400 };

static void compute(struct report_figures *figures, struct arena *arena, bool from_zero)
{
    json_object *points = json_tokener_parse(POINTS);

    assert_non_null(points);
    report_figures_compute(figures, arena, points, 60, from_zero);
    (void)json_object_put(points);
}

TEST(rates_are_what_was_added_by_the_time_between_also_over_a_gap_and_a_reset)
{
    struct arena *arena = arena_new();
    struct report_figures figures;
    const double expected[] = {1, 2, 1, 0.5};

    compute(&figures, arena, true);
    assert_int_equal(figures.count, 4);
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_true(fabs(figures.per_second[REPORT_ENTERED][i] - expected[i]) < 1e-9);
    }
    assert_true(fabs(figures.sums[REPORT_ENTERED] - 390) < 1e-9);
    assert_int_equal(figures.times[0], NOON);
    arena_free(arena);
}

TEST(what_is_not_known_stays_unknown)
{
    struct arena *arena = arena_new();
    struct report_figures figures;

    compute(&figures, arena, false);
    assert_true(isnan(figures.per_second[REPORT_ENTERED][0]));
    assert_true(fabs(figures.sums[REPORT_ENTERED] - 330) < 1e-9);
    for (size_t i = 0; i < figures.count; i++) {
        assert_true(isnan(figures.per_second[REPORT_WITHDRAWN][i]));
        assert_true(isnan(figures.gauges[REPORT_ACTUAL][i]));
    }
    assert_true(fabs(figures.sums[REPORT_WITHDRAWN]) < 1e-9);
    assert_int_equal(figures.gauge_peaks[REPORT_ACTUAL].at, 0);
    arena_free(arena);
}

TEST(peaks_and_the_last_order_are_found)
{
    struct arena *arena = arena_new();
    struct report_figures figures;

    compute(&figures, arena, true);
    assert_int_equal(figures.peaks[REPORT_ENTERED].at, NOON + 60);
    assert_int_equal(figures.gauge_peaks[REPORT_WAITING].at, NOON + 60);
    assert_true(fabs(figures.gauge_peaks[REPORT_WAITING].value - 170) < 1e-9);
    assert_int_equal(figures.last_consumed, NOON + 5 * 60);
    arena_free(arena);
}

TEST(steps_of_an_axis_are_round)
{
    static const double CASES[][2] = {{0, 1},      {NAN, 1}, {5, 1},       {12, 2.5},
                                      {1200, 250}, {1, 0.2}, {0.05, 0.01}, {99999, 20000}};

    for (size_t i = 0; i < COUNT(CASES); i++) {
        assert_true(fabs(svg_chart_step(CASES[i][0], 5) / CASES[i][1] - 1) < 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_what_was_added_by_the_time_between_also_over_a_gap_and_a_reset),
        cmocka_unit_test(what_is_not_known_stays_unknown),
        cmocka_unit_test(peaks_and_the_last_order_are_found),
        cmocka_unit_test(steps_of_an_axis_are_round),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
