#include "tests/unit/unit.h"

#include <stdio.h>

#include "board/failing_networks.h"

enum { NOW = 1000000 };

static struct failing_networks networks;

static int begin_anew(__attribute__((unused)) void **state)
{
    networks = (struct failing_networks){.seen = {{.at_ms = 0}}};
    return 0;
}

static bool note(int network, bool is_failure, int64_t now_ms)
{
    char text[16];

    (void)snprintf(text, sizeof(text), "10.0.0.%d", network);
    return failing_networks_note(&networks, str_of(text), is_failure, now_ms);
}

TEST(one_client_in_a_crowd_is_not_believed_however_often_it_fails)
{
    for (int i = 1; i <= 20; i++) {
        assert_true(note(i, false, NOW));
    }
    for (int i = 0; i < 1000; i++) {
        assert_false(note(1, true, NOW + i));
    }
}

TEST(five_networks_are_believed)
{
    for (int i = 1; i <= 20; i++) {
        assert_true(note(i, false, NOW));
    }
    for (int i = 1; i <= 4; i++) {
        assert_false(note(i, true, NOW));
    }
    assert_true(note(5, true, NOW));
    assert_true(note(1, true, NOW));
}

TEST(half_of_a_few_are_believed)
{
    assert_true(note(1, true, NOW));
    assert_true(note(2, false, NOW));
    assert_true(note(1, true, NOW));
    assert_true(note(3, false, NOW));
    assert_false(note(1, true, NOW));
    assert_true(note(2, true, NOW));
}

TEST(what_is_long_ago_is_forgotten)
{
    for (int i = 1; i <= 20; i++) {
        assert_true(note(i, false, NOW));
    }
    for (int i = 1; i <= 5; i++) {
        (void)note(i, true, NOW);
    }
    for (int i = 1; i <= 20; i++) {
        assert_true(note(i, false, NOW + FAILING_NETWORKS_WINDOW_MS));
    }
    assert_false(note(6, true, NOW + FAILING_NETWORKS_WINDOW_MS));
}

TEST(a_crowd_of_thousands_hides_no_failures_and_makes_none)
{
    for (int i = 1; i <= 20; i++) {
        assert_true(note(i, false, NOW));
    }
    for (int i = 21; i <= 5000; i++) {
        assert_true(note(i, false, NOW + i));
        assert_false(note(1, true, NOW + i));
    }
    for (int i = 2; i <= 4; i++) {
        assert_false(note(i, true, NOW + 5000));
    }
    assert_true(note(5, true, NOW + 5000));
}

TEST(without_a_network_all_failures_count)
{
    for (int i = 1; i <= 20; i++) {
        assert_true(note(i, false, NOW));
    }
    assert_true(failing_networks_note(&networks, STR(""), true, NOW));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(one_client_in_a_crowd_is_not_believed_however_often_it_fails,
                               begin_anew),
        cmocka_unit_test_setup(five_networks_are_believed, begin_anew),
        cmocka_unit_test_setup(half_of_a_few_are_believed, begin_anew),
        cmocka_unit_test_setup(what_is_long_ago_is_forgotten, begin_anew),
        cmocka_unit_test_setup(a_crowd_of_thousands_hides_no_failures_and_makes_none, begin_anew),
        cmocka_unit_test_setup(without_a_network_all_failures_count, begin_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
