#include "tests/unit/unit.h"

#include <signal.h>

#include "lib/base/clock.h"
#include "lib/base/shutdown.h"

TEST(a_wait_lasts_its_time_and_ends_with_the_first_signal_for_good)
{
    shutdown_prepare();
    int64_t start = clock_monotonic_ms();
    assert_false(shutdown_wait(30));
    assert_true(clock_monotonic_ms() - start >= 29);
    assert_false(shutdown_wait(0));
    assert_int_equal(raise(SIGPIPE), 0);
    assert_int_equal(raise(SIGTERM), 0); /* between two waits: kept, not lost */
    start = clock_monotonic_ms();
    assert_true(shutdown_wait(60000));
    assert_true(shutdown_wait(60000));
    assert_true(clock_monotonic_ms() - start < 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_lasts_its_time_and_ends_with_the_first_signal_for_good),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
