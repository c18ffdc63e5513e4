#include "tests/unit/unit.h"

#include <string.h>

#include "lib/base/arena.h"
#include "sluicectl/doctor/nginx_config.h"

/** All directives of `text`, words with '|' between and directives with '/'. */
static const char *read_all(struct arena *arena, const char *text)
{
    struct nginx_reader reader;
    struct nginx_directive directive;
    const char *all = "";

    nginx_reader_start(&reader, arena, str_of(text));
    while (nginx_reader_next(&reader, &directive)) {
        for (size_t i = 0; i < directive.count; i++) {
            all = arena_format(arena, "%s%s%.*s", all, i > 0 ? "|" : (all[0] == '\0' ? "" : "/"),
                               STR_ARG(directive.words[i]));
        }
    }
    return all;
}

TEST(directives_blocks_and_comments_are_distinguished)
{
    static const struct {
        const char *text;
        const char *read;
    } CASES[] = {
        {"", ""},
        {"# nothing; here {", ""},
        {"pid /run/nginx.pid;", "pid|/run/nginx.pid"},
        {"events {\n  worker_connections 768; # many\n}\nhttp{a b;}",
         "events/worker_connections|768/http/a|b"},
        {"location = /_sluice/check { internal; }", "location|=|/_sluice/check/internal"},
        {"location ~ \"^/a{2,3};x$\" { return 200 'it is; {here}'; }",
         "location|~|^/a{2,3};x$/return|200|it is; {here}"},
        {"return 200 'don\\'t';", "return|200|don't"},
        {"set $a ${b}c;", "set|$a|${b}c"},
        {"log_format x '{\"ts\":\"$t\"}'\n  'more';", "log_format|x|{\"ts\":\"$t\"}|more"},
        {"a\\ b c;", "a\\ b|c"},
        {"}}};;{", ""},
    };
    struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT(CASES); i++) {
        assert_string_equal(read_all(arena, CASES[i].text), CASES[i].read);
    }
    arena_free(arena);
}

TEST(text_that_ends_anywhere_ends_the_reading)
{
    static const char TEXT[] =
        "http { map $a \"~^x\\\"y\" { default 'a;b'; } set $b ${c}\\; } # end\n";
    struct arena *arena = arena_new();

    for (size_t n = 0; n < sizeof(TEXT); n++) {
        char *cut = arena_copy(arena, str_sized(TEXT, n));
        (void)read_all(arena, cut);
    }
    arena_free(arena);
}

TEST(words_beyond_the_most_are_left_out)
{
    struct arena *arena = arena_new();
    struct nginx_reader reader;
    struct nginx_directive directive;
    char text[1024] = "x";

    for (int i = 0; i < 200; i++) {
        (void)strncat(text, " y", sizeof(text) - strlen(text) - 1);
    }
    (void)strncat(text, "; next z;", sizeof(text) - strlen(text) - 1);
    nginx_reader_start(&reader, arena, str_of(text));
    assert_true(nginx_reader_next(&reader, &directive));
    assert_int_equal(directive.count, NGINX_WORDS_MAX);
    assert_true(nginx_reader_next(&reader, &directive));
    assert_true(nginx_is(&directive, "next"));
    assert_false(nginx_reader_next(&reader, &directive));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directives_blocks_and_comments_are_distinguished),
        cmocka_unit_test(text_that_ends_anywhere_ends_the_reading),
        cmocka_unit_test(words_beyond_the_most_are_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
