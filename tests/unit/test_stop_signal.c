#include "tests/unit/unit.h"

#include <unistd.h>

#include "fcgi-app/pool/stop_signal.h"

enum { LONG_AGO_MS = 1000, LOOK_MS = 20 };

/* As in a loop that finds something ready each time, and so never waits. */
TEST(a_process_that_never_waits_hears_it_at_its_next_look)
{
    sigset_t open_mask;

    stop_signal_install(&open_mask);
    stop_signal_look(&open_mask, LONG_AGO_MS);
    assert_int_equal(kill(getpid(), SIGTERM), 0);
    assert_false(stop_signal_came());
    stop_signal_look(&open_mask, LONG_AGO_MS + LOOK_MS - 1);
    assert_false(stop_signal_came());
    stop_signal_look(&open_mask, LONG_AGO_MS + LOOK_MS);
    assert_true(stop_signal_came());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_never_waits_hears_it_at_its_next_look),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
