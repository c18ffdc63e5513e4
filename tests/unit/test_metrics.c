#include "tests/unit/unit.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/metrics/metrics.h"
#include "tests/unit/scratch.h"

TEST(processes_count_together_in_one_file)
{
    assert_true(metrics_open(scratch_path("metrics")));
    for (int i = 0; i < 4; i++) {
        if (fork() == 0) {
            bool open = metrics_open(scratch_path("metrics"));
            for (int n = 0; open && n < 10000; n++) {
                metrics_add(METRIC_CATALOG_L1, 1);
            }
            _exit(0);
        }
    }
    while (wait(NULL) > 0) {
    }
    assert_int_equal(metrics_value(METRIC_CATALOG_L1), 40000);
}

TEST(a_file_of_another_release_is_begun_anew)
{
    (void)scratch_write("metrics", "something else", 0600);
    assert_true(metrics_open(scratch_path("metrics")));
    assert_int_equal(metrics_value(METRIC_CATALOG_L1), 0);
}

TEST(a_file_that_cannot_be_had_is_said_and_counting_goes_on)
{
    int64_t before = metrics_value(METRIC_CATALOG_WAITS);

    assert_false(metrics_open("/nonexistent/metrics"));
    metrics_add(METRIC_CATALOG_WAITS, 2);
    assert_int_equal(metrics_value(METRIC_CATALOG_WAITS), before + 2);
}

TEST(each_family_has_its_help_and_type_once)
{
    struct buffer out;

    buffer_init(&out, 64 * 1024);
    metrics_format(&out);
    buffer_add_char(&out, '\0');
    assert_true(buffer_ok(&out));
    assert_contains(out.bytes, "# TYPE sluice_catalog_reads_total counter\n"
                               "sluice_catalog_reads_total{from=\"l1\"} ");
    assert_contains(out.bytes, "\nsluice_catalog_negative_total 0\n");
    const char *first = strstr(out.bytes, "# HELP sluice_catalog_reads_total ");
    assert_non_null(first);
    assert_null(strstr(first + 1, "# HELP sluice_catalog_reads_total "));
    assert_lacks(out.bytes, "# HELP sluice_catalog_reads_total \n");
    buffer_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_count_together_in_one_file),
        cmocka_unit_test(a_file_of_another_release_is_begun_anew),
        cmocka_unit_test(a_file_that_cannot_be_had_is_said_and_counting_goes_on),
        cmocka_unit_test(each_family_has_its_help_and_type_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
