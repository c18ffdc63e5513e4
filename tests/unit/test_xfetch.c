#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>

#include "lib/catalog/xfetch.h"

TEST(a_draw_is_minus_beta_times_the_logarithm)
{
    assert_true(xfetch_draw(100, 1.0) == 0.0);
    assert_true(fabs(xfetch_draw(100, exp(-1.0)) - 1.0) < 1e-9);
    assert_true(fabs(xfetch_draw(250, exp(-2.0)) - 5.0) < 1e-9);
    assert_true(xfetch_draw(0, 0.000001) == 0.0);
    assert_false(signbit(xfetch_draw(0, 0.5)));
}

TEST(nothing_is_due_before_its_draw_reaches_the_end)
{
    /* cost 200, good until 10000, draw 1.5: from 9700 on */
    assert_false(xfetch_due(9699, 10000, 200, 1.5));
    assert_true(xfetch_due(9700, 10000, 200, 1.5));
    assert_false(xfetch_due(9999, 10000, 200, 0.0));
    assert_false(xfetch_due(9999, 10000, 0, 100.0));
}

TEST(from_its_end_on_everything_is_due)
{
    assert_true(xfetch_due(10000, 10000, 0, 0.0));
    assert_true(xfetch_due(10001, 10000, 200, 0.0));
    assert_true(xfetch_due(0, -5, 0, 0.0));
}

/* Of many readers the share that is due at x costs before the end is e^-x: that is what makes it
 * optimal. */
TEST(the_nearer_the_end_the_more_readers_are_due)
{
    enum { READERS = 100000 };

    for (int x = 1; x <= 4; x++) {
        int due = 0;
        for (int i = 1; i <= READERS; i++) {
            due += xfetch_due(10000 - x * 100, 10000, 100, xfetch_draw(100, (double)i / READERS));
        }
        assert_true(abs(due - (int)(READERS * exp(-x))) <= 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_draw_is_minus_beta_times_the_logarithm),
        cmocka_unit_test(nothing_is_due_before_its_draw_reaches_the_end),
        cmocka_unit_test(from_its_end_on_everything_is_due),
        cmocka_unit_test(the_nearer_the_end_the_more_readers_are_due),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
