#include "tests/unit/unit.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/metrics/metrics.h"
#include "lib/metrics/metrics_file.h"
#include "lib/metrics/metrics_text.h"
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

TEST(programs_of_other_users_of_the_group_count_in_it_too)
{
    struct stat about;
    mode_t before = umask(077);

    assert_true(metrics_open(scratch_path("shared")));
    (void)umask(before);
    assert_int_equal(stat(scratch_path("shared"), &about), 0);
    assert_int_equal(about.st_mode & 0777, 0660);
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

static void format(struct buffer *out)
{
    buffer_init(out, 4 * 1024 * 1024);
    metrics_format(out);
    buffer_add_char(out, '\0');
    assert_true(buffer_ok(out));
}

TEST(each_family_has_its_help_and_type_once)
{
    struct buffer out;

    format(&out);
    assert_contains(out.bytes, "# TYPE sluice_catalog_reads_total counter\n"
                               "sluice_catalog_reads_total{from=\"l1\"} ");
    assert_contains(out.bytes, "\nsluice_catalog_negative_total 0\n");
    const char *first = strstr(out.bytes, "# HELP sluice_catalog_reads_total ");
    assert_non_null(first);
    assert_null(strstr(first + 1, "# HELP sluice_catalog_reads_total "));
    assert_lacks(out.bytes, "# HELP sluice_catalog_reads_total \n");
    buffer_free(&out);
}

TEST(a_histogram_is_cumulative_and_in_seconds)
{
    struct buffer out;

    assert_true(metrics_open(scratch_path("times")));
    metrics_observe_us(HISTOGRAM_REDIS_LINE, 500);
    metrics_observe_us(HISTOGRAM_REDIS_LINE, 501);
    metrics_observe_us(HISTOGRAM_REDIS_LINE, -3); /* a clock that steps back counts as no time */
    metrics_observe_us(HISTOGRAM_REDIS_LINE, 7000000);
    format(&out);
    assert_contains(out.bytes, "# TYPE sluice_redis_call_duration_seconds histogram\n");
    assert_contains(
        out.bytes,
        "\nsluice_redis_call_duration_seconds_bucket{client=\"line\",le=\"0.000500\"} 2\n"
        "sluice_redis_call_duration_seconds_bucket{client=\"line\",le=\"0.001000\"} 3\n");
    assert_contains(out.bytes,
                    "{client=\"line\",le=\"5.000000\"} 3\n"
                    "sluice_redis_call_duration_seconds_bucket{client=\"line\",le=\"+Inf\"} 4\n"
                    "sluice_redis_call_duration_seconds_sum{client=\"line\"} 7.001001\n"
                    "sluice_redis_call_duration_seconds_count{client=\"line\"} 4\n");
    buffer_free(&out);
}

TEST(requests_of_all_processes_share_the_row_of_their_labels)
{
    const char *labels = "pool=\"queue\",method=\"GET\",route=\"/livez\"";
    struct buffer out;

    assert_true(metrics_open(scratch_path("requests")));
    for (int i = 0; i < 4; i++) {
        if (fork() == 0) {
            bool open = metrics_open(scratch_path("requests"));
            int row = metrics_requests_row(labels);
            for (int n = 0; open && n < 1000; n++) {
                metrics_requests_add(row, n % 10 == 0 ? METRIC_CLASS_WAITING : METRIC_CLASS_2XX,
                                     2000);
            }
            _exit(0);
        }
    }
    while (wait(NULL) > 0) {
    }
    metrics_requests_add(-1, METRIC_CLASS_5XX, 1);
    format(&out);
    assert_contains(out.bytes,
                    "\nsluice_requests_total{pool=\"queue\",method=\"GET\",route=\"/livez\","
                    "status=\"2xx\"} 3600\n");
    assert_contains(out.bytes, "status=\"5xx\"} 0\n");
    assert_contains(out.bytes, "status=\"waiting\"} 400\n");
    assert_contains(out.bytes, "route=\"/livez\",le=\"0.002500\"} 4000\n");
    buffer_free(&out);
}

TEST(rows_of_requests_have_a_bound)
{
    char labels[METRIC_REQUESTS_NAME + 1];

    assert_true(metrics_open(scratch_path("rows")));
    for (int i = 0; i < METRIC_REQUESTS_MAX; i++) {
        (void)snprintf(labels, sizeof(labels), "route=\"%d\"", i);
        assert_int_equal(metrics_requests_row(labels), i);
    }
    assert_int_equal(metrics_requests_row("route=\"one too many\""), -1);
    assert_int_equal(metrics_requests_row("route=\"7\""), 7);
    memset(labels, 'x', METRIC_REQUESTS_NAME);
    labels[METRIC_REQUESTS_NAME] = '\0';
    assert_int_equal(metrics_requests_row(labels), -1);
}

static struct metric_queue queue_named(const char *name, int64_t waiting)
{
    struct metric_queue queue = {0};
    size_t bucket = 0;

    (void)snprintf(queue.name, sizeof(queue.name), "%s", name);
    queue.values[QUEUE_METRIC_WAITING] = waiting;
    queue.values[QUEUE_METRIC_RATE_IN_FORCE] = 2500;
    queue.values[QUEUE_METRIC_LEADER] = waiting > 10 ? 0 : 1;
    queue.values[QUEUE_METRIC_WAIT_ACTUAL] = waiting * 1000;
    while (METRIC_WAIT_BOUNDS_MS[bucket] < 2001) {
        bucket++;
    }
    queue.waits[QUEUE_HISTOGRAM_WAIT_LATE].buckets[bucket] = waiting;
    queue.waits[QUEUE_HISTOGRAM_WAIT_LATE].sum_ms = waiting * 2001;
    return queue;
}

TEST(queues_are_shown_as_they_were_published_last)
{
    struct metric_queue queues[2] = {queue_named("spring-sale", 7), queue_named("other", 0)};
    struct buffer out;

    assert_true(metrics_open(scratch_path("queues")));
    metrics_queues_publish(queues, 2);
    format(&out);
    assert_contains(out.bytes,
                    "\nsluice_queue_members{queue=\"spring-sale\",status=\"waiting\"} 7\n");
    assert_contains(
        out.bytes,
        "\nsluice_queue_rate_per_second{queue=\"spring-sale\",kind=\"in_force\"} 2.500\n");
    assert_contains(out.bytes, "\nsluice_queue_leader{queue=\"other\"} 1\n");
    assert_contains(out.bytes, "\nsluice_queue_wait_error_seconds_bucket{queue=\"spring-sale\","
                               "direction=\"late\",le=\"5.000\"} 7\n");
    assert_contains(out.bytes, "\nsluice_queue_wait_error_seconds_sum{queue=\"spring-sale\","
                               "direction=\"late\"} 14.007\n");
    buffer_free(&out);
    metrics_queues_publish(queues, 0);
    format(&out);
    assert_lacks(out.bytes, "spring-sale");
    buffer_free(&out);
}

TEST(other_queues_are_sums_where_numbers_add_up_and_the_worst_where_they_do_not)
{
    struct metric_queue others = queue_named("other", 3);
    struct metric_queue more = queue_named("x", 20);

    metrics_queue_join(&others, &more);
    assert_int_equal(others.values[QUEUE_METRIC_WAITING], 23);
    assert_int_equal(others.values[QUEUE_METRIC_LEADER], 0);
    assert_int_equal(others.values[QUEUE_METRIC_WAIT_ACTUAL], 20000);
    assert_int_equal(others.waits[QUEUE_HISTOGRAM_WAIT_LATE].buckets[2], 23);
    assert_int_equal(others.waits[QUEUE_HISTOGRAM_WAIT_LATE].sum_ms, 23 * 2001);
}

/* One writes, all the time other numbers that belong together; nobody may see some of one and
 * some of another. */
TEST(a_reader_never_sees_half_of_what_is_published)
{
    struct metric_queue queues[METRIC_QUEUES_MAX + 1];

    assert_true(metrics_open(scratch_path("torn")));
    pid_t writer = fork();
    if (writer == 0) {
        bool open = metrics_open(scratch_path("torn"));
        for (int64_t n = 1; open; n++) {
            for (size_t q = 0; q < COUNT(queues); q++) {
                queues[q] = queue_named("sale", n);
            }
            metrics_queues_publish(queues, COUNT(queues));
        }
        _exit(0);
    }
    int64_t seen = 0;
    int64_t patience_ends = clock_monotonic_ms() + 20000;
    while (seen < 200 && clock_monotonic_ms() < patience_ends) {
        size_t count = metrics_queues_read(queues);
        for (size_t q = 1; q < count; q++) {
            assert_int_equal(queues[q].values[QUEUE_METRIC_WAITING],
                             queues[0].values[QUEUE_METRIC_WAITING]);
            assert_int_equal(queues[q].waits[QUEUE_HISTOGRAM_WAIT_LATE].sum_ms,
                             queues[0].values[QUEUE_METRIC_WAITING] * 2001);
        }
        seen += count > 0 ? 1 : 0;
    }
    (void)kill(writer, SIGKILL);
    (void)waitpid(writer, NULL, 0);
    assert_true(seen > 0);
    /* Killed in the middle or not, the next one to publish is seen. */
    queues[0] = queue_named("next", 1);
    metrics_queues_publish(queues, 1);
    assert_int_equal(metrics_queues_read(queues), 1);
    assert_string_equal(queues[0].name, "next");
}

TEST(labels_that_another_process_has_spoiled_are_not_read_beyond_their_end)
{
    struct metric_requests row;
    struct metrics_requests_cell *cell = &metrics_file()->requests[METRIC_REQUESTS_MAX - 1];

    memset(cell->labels, 'x', sizeof(cell->labels));
    atomic_store(&cell->state, METRICS_ROW_READY);
    assert_true(metrics_requests_read(METRIC_REQUESTS_MAX - 1, &row));
    assert_int_equal(strlen(row.labels), METRIC_REQUESTS_NAME - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_count_together_in_one_file),
        cmocka_unit_test(programs_of_other_users_of_the_group_count_in_it_too),
        cmocka_unit_test(a_file_of_another_release_is_begun_anew),
        cmocka_unit_test(a_file_that_cannot_be_had_is_said_and_counting_goes_on),
        cmocka_unit_test(each_family_has_its_help_and_type_once),
        cmocka_unit_test(a_histogram_is_cumulative_and_in_seconds),
        cmocka_unit_test(requests_of_all_processes_share_the_row_of_their_labels),
        cmocka_unit_test(rows_of_requests_have_a_bound),
        cmocka_unit_test(queues_are_shown_as_they_were_published_last),
        cmocka_unit_test(
            other_queues_are_sums_where_numbers_add_up_and_the_worst_where_they_do_not),
        cmocka_unit_test(a_reader_never_sees_half_of_what_is_published),
        cmocka_unit_test(labels_that_another_process_has_spoiled_are_not_read_beyond_their_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
