#include "tests/unit/unit.h"

#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "lib/base/log.h"
#include "tests/unit/capture.h"

static const char *text_of(json_object *line, const char *name)
{
    json_object *value;

    return json_object_object_get_ex(line, name, &value) ? json_object_get_string(value) : NULL;
}

TEST(a_line_is_one_json_object_with_the_common_fields)
{
    log_start("tester", LOG_LEVEL_INFO);
    capture_begin(STDERR_FILENO);
    log_event(LOG_LEVEL_WARNING, "a.b",
              LOG_FIELDS(LOG_TEXT("who", "x\"\n\xff"), LOG_INT("n", -5), LOG_STR("s", STR("t"))));
    const char *written = capture_end(STDERR_FILENO);

    assert_ptr_equal(strchr(written, '\n'), written + strlen(written) - 1);
    json_object *line = json_tokener_parse(written);
    assert_non_null(line);
    assert_string_equal(text_of(line, "level"), "warning");
    assert_string_equal(text_of(line, "event"), "a.b");
    assert_string_equal(text_of(line, "program"), "tester");
    assert_string_equal(text_of(line, "who"), "x\"\n\xef\xbf\xbd");
    assert_string_equal(text_of(line, "n"), "-5");
    assert_string_equal(text_of(line, "s"), "t");
    assert_non_null(text_of(line, "ts"));
    assert_non_null(text_of(line, "pid"));
    assert_null(text_of(line, "requestId"));
    json_object_put(line);
}

TEST(lines_within_a_request_name_it)
{
    capture_begin(STDERR_FILENO);
    log_set_request(STR("r-1"), STR("00-11-22-01"));
    log_event(LOG_LEVEL_INFO, "within", LOG_NO_FIELDS);
    log_set_request(STR(""), STR(""));
    log_event(LOG_LEVEL_INFO, "behind", LOG_NO_FIELDS);
    const char *written = capture_end(STDERR_FILENO);

    assert_contains(written, "\"requestId\":\"r-1\",\"traceparent\":\"00-11-22-01\"}\n");
    assert_lacks(strstr(written, "behind"), "requestId");
}

TEST(lines_below_the_level_are_dropped)
{
    log_start("tester", LOG_LEVEL_ERROR);
    capture_begin(STDERR_FILENO);
    log_event(LOG_LEVEL_WARNING, "quiet", LOG_NO_FIELDS);
    log_event(LOG_LEVEL_ERROR, "loud", LOG_NO_FIELDS);
    const char *written = capture_end(STDERR_FILENO);

    assert_lacks(written, "quiet");
    assert_contains(written, "loud");
}

TEST(levels_are_read_by_their_names_only)
{
    enum log_level level = LOG_LEVEL_ERROR;

    assert_true(log_level_parse(STR("debug"), &level));
    assert_int_equal(level, LOG_LEVEL_DEBUG);
    assert_false(log_level_parse(STR("Debug"), &level));
    assert_false(log_level_parse(STR(""), &level));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_one_json_object_with_the_common_fields),
        cmocka_unit_test(lines_within_a_request_name_it),
        cmocka_unit_test(lines_below_the_level_are_dropped),
        cmocka_unit_test(levels_are_read_by_their_names_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
