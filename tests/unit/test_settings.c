#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/settings/settings.h"
#include "lib/settings/settings_row.h"
#include "tests/unit/scratch.h"

/* Loads `text` as the settings file; `error` is for the caller to look at. */
static bool load(const char *text, struct settings *settings, char error[SETTINGS_ERROR])
{
    return settings_load(scratch_write("sluice.conf", text, 0600), settings, error);
}

static char printed[16 * 1024];

static const char *print(void (*what)(FILE *, const struct settings *),
                         const struct settings *settings)
{
    memset(printed, 0, sizeof(printed));
    FILE *stream = fmemopen(printed, sizeof(printed) - 1, "w");
    assert_non_null(stream);
    what(stream, settings);
    (void)fclose(stream);
    return printed;
}

static void print_help(FILE *stream, __attribute__((unused)) const struct settings *settings)
{
    settings_help(stream);
}

TEST(without_file_and_environment_every_setting_has_its_default)
{
    struct settings settings;
    char error[SETTINGS_ERROR];

    assert_true(settings_load(NULL, &settings, error));
    assert_string_equal(settings.redis_socket, "");
    assert_string_equal(settings.member_jwt_algorithm, "HS256");
    assert_int_equal(settings.queue_ticket_ttl_seconds, 86400);
    assert_int_equal(settings.redis_timeout_ms, 1000);
    assert_int_equal(settings.leader_lock_ms, 3000);
    assert_false(settings.cookie_secure);
    assert_string_equal(settings.log_level, "info");
    settings_free(&settings);
    settings_free(&settings);
}

TEST(a_file_with_comments_spaces_and_other_line_ends_is_read)
{
    struct settings settings;
    char error[SETTINGS_ERROR];

    assert_true(load("# a comment\n"
                     "\n"
                     "  redis_socket =  /run/redis.sock  \r\n"
                     "\tredis_timeout_ms=250\n"
                     "postgres_conninfo = host=/run dbname=sluice password=a#b=c\n"
                     "cookie_secure = true\n"
                     "member_jwt_audience =\n"
                     "log_level = debug",
                     &settings, error));
    assert_string_equal(settings.redis_socket, "/run/redis.sock");
    assert_int_equal(settings.redis_timeout_ms, 250);
    assert_string_equal(settings.postgres_conninfo, "host=/run dbname=sluice password=a#b=c");
    assert_true(settings.cookie_secure);
    assert_string_equal(settings.member_jwt_audience, "");
    assert_string_equal(settings.log_level, "debug");
    settings_free(&settings);
}

TEST(what_is_wrong_in_a_file_is_named_with_its_line)
{
    static const struct {
        const char *text;
        const char *error; /* behind the file's name */
    } CASES[] = {
        {"\nredis_sokcet = /x\n", ":2: there is no setting 'redis_sokcet'"},
        {"Redis_socket = /x\n", ":1: there is no setting 'Redis_socket'"},
        {"= 5\n", ":1: there is no setting ''"},
        {"log_level\n", ":1: not of the form 'key = value'"},
        {"log_level = info\n#\nlog_level = info\n", ":3: log_level is set twice, first in line 1"},
        {"redis_timeout_ms = 9\n",
         ":1: redis_timeout_ms must be a whole number from 10 to 60000 (ms), not '9'"},
        {"redis_timeout_ms = 60001\n",
         ":1: redis_timeout_ms must be a whole number from 10 to 60000 (ms), not '60001'"},
        {"redis_timeout_ms = 1s\n",
         ":1: redis_timeout_ms must be a whole number from 10 to 60000 (ms), not '1s'"},
        {"redis_timeout_ms =\n",
         ":1: redis_timeout_ms must be a whole number from 10 to 60000 (ms), not ''"},
        {"redis_timeout_ms = 99999999999999999999\n", "not '99999999999999999999'"},
        {"cookie_secure = yes\n", ":1: cookie_secure must be true or false, not 'yes'"},
        {"member_jwt_algorithm = none\n",
         ":1: member_jwt_algorithm must be one of HS256, RS256, ES256, EdDSA, not 'none'"},
        {"member_jwt_algorithm = HS256|RS256\n", "must be one of"},
        {"log_level =\n", "must be one of debug, info, warning, error, not ''"},
        {"redis_socket = redis.sock\n",
         ":1: redis_socket must be an absolute path of at most 107 bytes, not 'redis.sock'"},
        {"admin_key_file = a\n", ":1: admin_key_file must be an absolute path"},
        {"member_jwt_audience = a\x01\n", ":1: member_jwt_audience must be text"},
        {"lock_timeout_ms = 2000\n",
         "lock_timeout_ms (2000) must be below statement_timeout_ms (2000)"},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct settings settings;
        char error[SETTINGS_ERROR] = "";
        assert_false(load(CASES[i].text, &settings, error));
        assert_contains(error, CASES[i].error);
        if (CASES[i].error[0] == ':') {
            assert_contains(error, scratch_path("sluice.conf"));
        }
    }
}

TEST(paths_and_text_are_bounded_and_a_long_value_is_cut_in_the_error)
{
    struct settings settings;
    char error[SETTINGS_ERROR];
    char line[8192] = "redis_socket = /";

    memset(line + strlen(line), 'x', 106);
    assert_true(load(line, &settings, error));
    assert_int_equal(strlen(settings.redis_socket), 107);
    settings_free(&settings);
    line[strlen(line)] = '#';
    assert_false(load(line, &settings, error));
    assert_contains(error, "at most 107 bytes, not '/xxxx");
    assert_contains(error, "x…'");
    assert_lacks(error, "#");
}

TEST(a_wrong_conninfo_is_not_repeated_in_the_error)
{
    struct settings settings;
    char error[SETTINGS_ERROR];

    assert_false(load("postgres_conninfo = password=hunter2\x01\n", &settings, error));
    assert_contains(error, "postgres_conninfo must be text");
    assert_lacks(error, "hunter2");
}

TEST(the_environment_overrides_the_file_and_is_checked_alike)
{
    struct settings settings;
    char error[SETTINGS_ERROR];

    assert_int_equal(setenv("SLUICE_REDIS_TIMEOUT_MS", "77", 1), 0);
    assert_int_equal(setenv("SLUICE_SOMETHING_ELSE", "x", 1), 0);
    assert_true(load("redis_timeout_ms = 250\n", &settings, error));
    assert_int_equal(settings.redis_timeout_ms, 77);
    settings_free(&settings);
    assert_int_equal(setenv("SLUICE_REDIS_TIMEOUT_MS", "-1", 1), 0);
    assert_false(load("", &settings, error));
    assert_contains(error, "SLUICE_REDIS_TIMEOUT_MS: redis_timeout_ms must be a whole number");
    assert_int_equal(unsetenv("SLUICE_REDIS_TIMEOUT_MS"), 0);
    assert_int_equal(unsetenv("SLUICE_SOMETHING_ELSE"), 0);
}

TEST(a_file_that_is_missing_or_writable_by_everyone_is_refused)
{
    struct settings settings;
    char error[SETTINGS_ERROR];

    assert_false(settings_load(scratch_path("missing"), &settings, error));
    assert_contains(error, "No such file");
    assert_false(
        settings_load(scratch_write("sluice.conf", "log_level = info\n", 0666), &settings, error));
    assert_contains(error, "everyone may change it");
    assert_false(settings_load("/", &settings, error));
    assert_contains(error, "not a regular file");
}

TEST(settings_that_a_program_needs_are_asked_for_by_name)
{
    static const char *const NEEDED[] = {"redis_socket", "postgres_conninfo", NULL};
    struct settings settings;
    char error[SETTINGS_ERROR];

    assert_true(load("redis_socket = /r\n", &settings, error));
    assert_false(settings_require(&settings, NEEDED, error));
    assert_contains(error, "postgres_conninfo must be set: PostgreSQL server(s), as a libpq");
    settings_free(&settings);
    assert_true(load("redis_socket = /r\npostgres_conninfo = host=/x\n", &settings, error));
    assert_true(settings_require(&settings, NEEDED, error));
    settings_free(&settings);
}

TEST(what_is_printed_hides_the_password_and_can_be_loaded_again)
{
    struct settings settings;
    struct settings again;
    char error[SETTINGS_ERROR];

    assert_true(load("postgres_conninfo = host=/x password=hunter2\nadmin_key_file = /k\n"
                     "leader_lock_ms = 500\ncookie_secure = true\n",
                     &settings, error));
    const char *text = print(settings_print, &settings);
    assert_lacks(text, "hunter2");
    assert_contains(text, "postgres_conninfo = host=/x password=***\n");
    assert_contains(text, "admin_key_file = /k\n");
    assert_true(load(text, &again, error));
    assert_int_equal(again.leader_lock_ms, 500);
    assert_true(again.cookie_secure);
    settings_free(&again);
    settings_free(&settings);
}

TEST(every_setting_is_explained_and_named_once)
{
    const char *help = print(print_help, NULL);

    for (size_t i = 0; i < setting_row_count(); i++) {
        const struct setting_row *row = setting_row(i);
        size_t found;
        assert_contains(help, row->name);
        assert_contains(help, row->description);
        assert_true(setting_row_find(str_of(row->name), &found));
        assert_int_equal(found, i);
        assert_true(row->kind != SETTING_INTEGER || row->unit[0] != '\0');
    }
    assert_contains(help, "a whole number from 10 to 60000 (ms); default 1000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_file_and_environment_every_setting_has_its_default),
        cmocka_unit_test(a_file_with_comments_spaces_and_other_line_ends_is_read),
        cmocka_unit_test(what_is_wrong_in_a_file_is_named_with_its_line),
        cmocka_unit_test(paths_and_text_are_bounded_and_a_long_value_is_cut_in_the_error),
        cmocka_unit_test(a_wrong_conninfo_is_not_repeated_in_the_error),
        cmocka_unit_test(the_environment_overrides_the_file_and_is_checked_alike),
        cmocka_unit_test(a_file_that_is_missing_or_writable_by_everyone_is_refused),
        cmocka_unit_test(settings_that_a_program_needs_are_asked_for_by_name),
        cmocka_unit_test(what_is_printed_hides_the_password_and_can_be_loaded_again),
        cmocka_unit_test(every_setting_is_explained_and_named_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
