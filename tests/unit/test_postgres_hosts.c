#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/store/postgres_hosts.h"

/* What is named there, as "host:port host:port". */
static void assert_names(const char *conninfo, const char *expected)
{
    struct postgres_hosts *hosts = postgres_hosts_new(conninfo);
    char found[512] = "";
    size_t length = 0;

    for (size_t i = 0; postgres_hosts_count(hosts) > 1 && i < postgres_hosts_count(hosts); i++) {
        int added = snprintf(found + length, sizeof(found) - length, "%s%s:%s", i == 0 ? "" : " ",
                             postgres_hosts_name(hosts, i), postgres_hosts_port(hosts, i));
        assert_true(added > 0 && (size_t)added < sizeof(found) - length);
        length += (size_t)added;
    }
    assert_string_equal(found, expected);
    postgres_hosts_free(hosts);
}

TEST(several_servers_are_split_in_every_form_that_libpq_reads)
{
    assert_names("host=a,b dbname=x", "a: b:");
    assert_names("host=/run/a,/run/b port=5432", "/run/a:5432 /run/b:5432");
    assert_names("host=a,b,c port=1,2,3", "a:1 b:2 c:3");
    assert_names("host='a,b' port='1,'", "a:1 b:");
    assert_names("host=a,,c", "a: : c:");
    assert_names("hostaddr=10.0.0.1,10.0.0.2 port=1", "10.0.0.1:1 10.0.0.2:1");
    assert_names("host=a,b hostaddr=10.0.0.1,10.0.0.2", "a: b:");
    assert_names("postgresql://u:p@a:1,b:2/x?target_session_attrs=read-write", "a:1 b:2");
}

TEST(one_server_or_what_libpq_must_judge_is_left_to_libpq)
{
    static const char *const CASES[] = {"",
                                        "host=a",
                                        "host=/run port=1",
                                        "service=x",
                                        "host=a,b port=1,2,3",
                                        "host=a,b hostaddr=10.0.0.1",
                                        "host=a,b hostaddr=10.0.0.1,10.0.0.2,10.0.0.3",
                                        "host",
                                        "postgresql://[",
                                        "nonsense=1 host=a,b"};

    for (size_t i = 0; i < COUNT(CASES); i++) {
        assert_names(CASES[i], "");
    }
}

TEST(more_servers_than_there_is_room_for_are_an_error)
{
    struct postgres_hosts *hosts = postgres_hosts_new("host=1,2,3,4,5,6,7,8,9");
    char error[128];

    assert_null(postgres_hosts_connect(hosts, clock_monotonic_ms() + 100, error, sizeof(error)));
    assert_string_equal(error, "postgres_conninfo names more than 8 servers");
    postgres_hosts_free(hosts);
}

TEST(each_server_s_own_reason_is_reported)
{
    struct postgres_hosts *hosts = postgres_hosts_new("host=/nowhere/a,/nowhere/b user=x");
    char error[512];
    char little[16];

    assert_null(postgres_hosts_connect(hosts, clock_monotonic_ms() + 1000, error, sizeof(error)));
    assert_non_null(strstr(error, "/nowhere/a: "));
    assert_non_null(strstr(error, "; /nowhere/b: "));
    assert_null(postgres_hosts_connect(hosts, clock_monotonic_ms() + 1000, little, sizeof(little)));
    assert_int_equal(strlen(little), sizeof(little) - 1);
    postgres_hosts_free(hosts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_servers_are_split_in_every_form_that_libpq_reads),
        cmocka_unit_test(one_server_or_what_libpq_must_judge_is_left_to_libpq),
        cmocka_unit_test(more_servers_than_there_is_room_for_are_an_error),
        cmocka_unit_test(each_server_s_own_reason_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
