#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/settings/program_options.h"
#include "tests/unit/capture.h"
#include "tests/unit/scratch.h"

static const char *const NEEDED[] = {"redis_socket", NULL};

static struct program_option options[] = {
    {.name = "pool", .argument = "NAME", .description = "which routes to serve"},
    {.name = "once", .description = "one round"},
};

static struct program program;
static struct settings settings;
static const char *out;
static const char *err;

static bool refuse(__attribute__((unused)) const struct settings *loaded,
                   char error[SETTINGS_ERROR])
{
    (void)snprintf(error, SETTINGS_ERROR, "the key file is bad");
    return false;
}

static void reset(void)
{
    program = (struct program){.name = "tester",
                               .summary = "Tests.",
                               .options = options,
                               .option_count = COUNT(options),
                               .required = NEEDED};
}

/* Starts the program with the words given, the last one NULL. */
static int start(const char *first, ...)
{
    static char words[8][512];
    static char *argv[10];
    int argc = 1;
    va_list list;

    argv[0] = words[7];
    (void)snprintf(words[7], sizeof(words[7]), "tester");
    va_start(list, first);
    for (const char *word = first; word != NULL; word = va_arg(list, const char *)) {
        (void)snprintf(words[argc - 1], sizeof(words[0]), "%s", word);
        argv[argc] = words[argc - 1];
        argc++;
    }
    va_end(list);
    argv[argc] = NULL;
    capture_begin(STDOUT_FILENO);
    capture_begin(STDERR_FILENO);
    int code = program_start(&program, argc, argv, &settings);
    err = capture_end(STDERR_FILENO);
    out = capture_end(STDOUT_FILENO);
    return code;
}

static const char *good_file(void)
{
    return scratch_write("good.conf", "redis_socket = /run/redis.sock\n", 0600);
}

TEST(options_in_any_order_and_form_are_read)
{
    reset();
    assert_int_equal(start("--once", "--config", good_file(), "--pool=queue", NULL),
                     PROGRAM_GOES_ON);
    assert_string_equal(options[0].value, "queue");
    assert_string_equal(options[1].value, "");
    assert_string_equal(settings.redis_socket, "/run/redis.sock");
    settings_free(&settings);
    assert_int_equal(start("--config", good_file(), NULL), PROGRAM_GOES_ON);
    assert_null(options[0].value);
    assert_null(options[1].value);
    settings_free(&settings);
}

TEST(the_environment_names_the_settings_file_unless_the_command_line_does)
{
    reset();
    assert_int_equal(setenv("SLUICE_CONFIG", good_file(), 1), 0);
    assert_int_equal(start(NULL), PROGRAM_GOES_ON);
    settings_free(&settings);
    assert_int_equal(start("--config", scratch_path("missing"), NULL), PROGRAM_BAD_CONFIG);
    assert_contains(err, "No such file");
    assert_int_equal(unsetenv("SLUICE_CONFIG"), 0);
}

TEST(a_wrong_command_line_is_one_sentence_and_code_64)
{
    reset();
    assert_int_equal(start("--nonsense", NULL), PROGRAM_USAGE);
    assert_string_equal(
        err, "tester: unknown or wrongly used option '--nonsense'\nSee: tester --help\n");
    assert_int_equal(start("-xy", NULL), PROGRAM_USAGE);
    assert_contains(err, "unknown option '-x'");
    assert_int_equal(start("--pool", NULL), PROGRAM_USAGE);
    assert_contains(err, "option '--pool' needs an argument");
    assert_int_equal(start("--once=5", NULL), PROGRAM_USAGE);
    assert_contains(err, "'--once=5'");
    assert_int_equal(start("--config", good_file(), "stray", NULL), PROGRAM_USAGE);
    assert_contains(err, "'stray' is not understood");
    assert_string_equal(out, "");
}

TEST(arguments_are_handed_over_where_the_program_takes_some)
{
    reset();
    program.arguments_help = "COMMAND …";
    assert_int_equal(start("queue", "--config", good_file(), "set", "--", "--rate", NULL),
                     PROGRAM_GOES_ON);
    assert_int_equal(program.argument_count, 3);
    assert_string_equal(program.arguments[0], "queue");
    assert_string_equal(program.arguments[1], "set");
    assert_string_equal(program.arguments[2], "--rate");
    settings_free(&settings);
}

TEST(help_names_every_option_and_setting_and_version_the_version)
{
    reset();
    assert_int_equal(start("--help", "--nonsense", NULL), PROGRAM_OK);
    assert_contains(out, "Usage: tester [OPTION …]\n\nTests.\n");
    assert_contains(out, "--pool NAME");
    assert_contains(out, "--check-config");
    assert_contains(out, "redis_timeout_ms");
    assert_int_equal(start("--version", NULL), PROGRAM_OK);
    assert_string_equal(out, "tester " PACKAGE_VERSION "\n");
}

TEST(checking_distinguishes_good_settings_from_bad_ones)
{
    reset();
    assert_int_equal(start("--check-config", "--config", good_file(), NULL), PROGRAM_OK);
    assert_string_equal(out, "tester: the settings are good\n");
    assert_int_equal(start("--check-config", NULL), PROGRAM_BAD_CONFIG);
    assert_string_equal(
        err,
        "tester: redis_socket must be set: Unix socket of Redis; this or one of the next three\n");
    program.check = refuse;
    assert_int_equal(start("--check-config", "--config", good_file(), NULL), PROGRAM_BAD_CONFIG);
    assert_string_equal(err, "tester: the key file is bad\n");
    assert_int_equal(start("--config", scratch_write("bad.conf", "x = 1\n", 0600), NULL),
                     PROGRAM_BAD_CONFIG);
    assert_contains(err, "bad.conf:1: there is no setting 'x'\n");
}

TEST(settings_are_printed_without_secrets)
{
    reset();
    const char *file = scratch_write(
        "good.conf", "redis_socket = /r\npostgres_conninfo = password=hunter2\n", 0600);
    assert_int_equal(start("--print-config", "--config", file, NULL), PROGRAM_OK);
    assert_contains(out, "redis_socket = /r\n");
    assert_lacks(out, "hunter2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_in_any_order_and_form_are_read),
        cmocka_unit_test(the_environment_names_the_settings_file_unless_the_command_line_does),
        cmocka_unit_test(a_wrong_command_line_is_one_sentence_and_code_64),
        cmocka_unit_test(arguments_are_handed_over_where_the_program_takes_some),
        cmocka_unit_test(help_names_every_option_and_setting_and_version_the_version),
        cmocka_unit_test(checking_distinguishes_good_settings_from_bad_ones),
        cmocka_unit_test(settings_are_printed_without_secrets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
