/*
 * waiting_page: the page made of its files, with values that cannot break out of their places, in
 * the language that fits, its script put together of parts, and made anew when a file changes.
 */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fcgi-app/gate/page/waiting_page.h"
#include "lib/settings/text_file.h"
#include "tests/unit/scratch.h"

static char directory[256];
static char theme[256];
/* What happens once, just behind the reading of the file whose path ends so. */
static const char *change_behind;
static void (*change)(void);

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    (void)scratch_write(path, text, 0644);
}

static int make_files(void **state)
{
    (void)state;
    (void)mkdir(scratch_path("page"), 0700);
    (void)mkdir(scratch_path("page/texts"), 0700);
    (void)mkdir(scratch_path("page/script"), 0700);
    (void)mkdir(scratch_path("own"), 0700);
    (void)mkdir(scratch_path("own/script"), 0700);
    (void)mkdir(scratch_path("own/texts"), 0700);
    (void)snprintf(directory, sizeof(directory), "%s", scratch_path("page"));
    (void)snprintf(theme, sizeof(theme), "%s", scratch_path("own"));
    write_file("page", "page.html",
               "<html lang={{lang}}><style nonce={{nonce}}>{{style}}</style>{{logo}}{{text.hello}} "
               "[{{face}}|{{queue}}|{{message}}|{{place}}|{{ahead}}|{{refresh}}]"
               "<script>{{state}}</script><script>{{texts}}</script>{{script}}");
    write_file("page", "page.css", "/* over\n   lines */\n  a{}");
    write_file("page/script", "main.js", "/* both */\n//@include one\n  //@include two \r\nrun();");
    write_file("page/script", "one.js", "/* of 1 */\n\n  first();");
    write_file("page/script", "two.js", "second();\n");
    write_file("page", "logo.svg", "<svg/>");
    write_file("page/texts", "en.json", "{\"hello\": \"Hello <you>\"}");
    write_file("page/texts", "ko.json", "{\"hello\": \"안녕\"}");
    return 0;
}

/* The linker puts this in the place of text_file_read(). */
bool __real_text_file_read(const char *path, size_t maximum, char **bytes, size_t *length,
                           char error[TEXT_FILE_ERROR]);
bool __wrap_text_file_read(const char *path, size_t maximum, char **bytes, size_t *length,
                           char error[TEXT_FILE_ERROR]);

bool __wrap_text_file_read(const char *path, size_t maximum, char **bytes, size_t *length,
                           char error[TEXT_FILE_ERROR])
{
    bool done = __real_text_file_read(path, maximum, bytes, length, error);
    const char *found = change_behind == NULL ? NULL : strstr(path, change_behind);

    if (found != NULL && strcmp(found, change_behind) == 0) {
        change_behind = NULL;
        change();
    }
    return done;
}

static struct waiting_page *open_page(const char *own)
{
    char error[WAITING_PAGE_ERROR] = "";
    struct waiting_page *page = waiting_page_open(directory, own, error);

    if (page == NULL) {
        fail_msg("%s", error);
    }
    return page;
}

static const char *written(const struct waiting_page *page, const char *language,
                           const char *message, const char *state)
{
    static char text[4096];
    struct buffer out;
    const struct waiting_page_values values = {
        .language = str_of(language),
        .face = STR("WAITING"),
        .queue = STR("drop"),
        .message = str_of(message),
        .place = STR("7"),
        .ahead = STR("6"),
        .nonce = STR("abc"),
        .state = str_of(state),
        .refresh_s = 5,
    };

    buffer_init(&out, sizeof(text) - 1);
    waiting_page_write(page, &values, &out);
    assert_true(buffer_ok(&out));
    struct str whole = buffer_text(&out);
    memcpy(text, whole.p, whole.n);
    text[whole.n] = '\0';
    buffer_free(&out);
    return text;
}

TEST(every_value_is_in_its_place)
{
    struct waiting_page *page = open_page("");
    const char *text = written(page, "ko", "hi", "{\"a\":1}");

    assert_contains(text, "<html lang=ko><style nonce=abc>a{}</style><svg/>안녕 "
                          "[WAITING|drop|hi|7|6|5]<script>{\"a\":1}</script>");
    assert_contains(text, "</script>first();\nsecond();\nrun();");
    waiting_page_free(page);
}

TEST(no_text_breaks_out_of_its_place)
{
    struct waiting_page *page = open_page("");
    const char *text = written(page, "en", "<script>\"'&", "{\"m\":\"</script><b>\"}");

    assert_contains(text, "Hello &lt;you&gt;");
    assert_contains(text, "|&lt;script&gt;&quot;&#39;&amp;|");
    assert_contains(text, "{\"m\":\"\\u003c/script>\\u003cb>\"}");
    assert_contains(text, "\"hello\":\"Hello \\u003cyou>\"");
    waiting_page_free(page);
}

TEST(the_language_is_the_choice_then_the_header_then_english)
{
    struct waiting_page *page = open_page("");

    assert_text(waiting_page_language(page, STR("ko"), STR("en")), "ko");
    assert_text(waiting_page_language(page, STR("xx"), STR("ko-KR")), "ko");
    assert_text(waiting_page_language(page, STR(""), STR("fr")), "en");
    assert_true(waiting_page_has(page, STR("ko")));
    assert_false(waiting_page_has(page, STR("../en")));
    waiting_page_free(page);
}

TEST(a_theme_replaces_what_it_has)
{
    write_file("own", "page.css", "b{}");
    struct waiting_page *page = open_page(theme);

    assert_contains(written(page, "en", "", "{}"), "<style nonce=abc>b{}</style><svg/>");
    waiting_page_free(page);
    (void)remove(scratch_path("own/page.css"));
}

TEST(a_text_that_a_theme_lacks_is_the_default_one)
{
    write_file("page", "page.html", "{{text.hello}}|{{text.later}}|{{texts}}");
    write_file("page/texts", "en.json", "{\"hello\": \"Hello\", \"later\": \"Later\"}");
    write_file("page/texts", "ko.json", "{\"hello\": \"안녕\", \"later\": \"나중\"}");
    write_file("own/texts", "ko.json", "{\"hello\": \"네\", \"later\": null}");
    write_file("own/texts", "fr.json", "{\"hello\": \"Salut\"}");
    struct waiting_page *page = open_page(theme);

    assert_contains(written(page, "ko", "", "{}"), "네|나중|");
    assert_contains(written(page, "fr", "", "{}"), "Salut|Later|");
    assert_contains(written(page, "en", "", "{}"), "Hello|Later|");
    assert_contains(written(page, "en", "", "{}"), "\"hello\":\"네\",\"later\":\"나중\"");
    assert_contains(written(page, "en", "", "{}"), "\"hello\":\"Salut\",\"later\":\"Later\"");
    write_file("page/texts", "ko.json", "{\"hello\": \"안녕\", \"later\": \"changed\"}");
    waiting_page_refresh(page, 10000);
    assert_contains(written(page, "ko", "", "{}"), "네|changed|");
    waiting_page_free(page);
    (void)remove(scratch_path("own/texts/ko.json"));
    (void)remove(scratch_path("own/texts/fr.json"));
    (void)make_files(NULL);
}

TEST(a_theme_replaces_a_part_or_the_whole_of_the_script)
{
    write_file("own/script", "two.js", "another();");
    struct waiting_page *page = open_page(theme);

    assert_contains(written(page, "en", "", "{}"), "</script>first();\nanother();\nrun();");
    waiting_page_free(page);
    page = open_page(theme);
    write_file("own", "page.js", "alone();");
    waiting_page_refresh(page, 10000);
    assert_contains(written(page, "en", "", "{}"), "</script>alone();");
    (void)remove(scratch_path("own/page.js"));
    waiting_page_refresh(page, 20000);
    assert_contains(written(page, "en", "", "{}"), "</script>first();");
    waiting_page_free(page);
    (void)remove(scratch_path("own/script/two.js"));
}

TEST(a_part_that_changes_or_comes_late_counts)
{
    struct waiting_page *page = open_page("");

    write_file("page/script", "one.js", "changed();");
    waiting_page_refresh(page, 10000);
    assert_contains(written(page, "en", "", "{}"), "changed();\nsecond();");
    write_file("page/script", "main.js", "//@include late");
    waiting_page_refresh(page, 20000);
    assert_contains(written(page, "en", "", "{}"), "changed();\nsecond();");
    write_file("page/script", "late.js", "late();");
    waiting_page_refresh(page, 30000);
    assert_contains(written(page, "en", "", "{}"), "</script>late();");
    waiting_page_free(page);
    (void)make_files(NULL);
}

TEST(a_changed_file_counts_and_a_broken_one_does_not)
{
    struct waiting_page *page = open_page("");

    write_file("page", "page.css", "changed{}");
    waiting_page_refresh(page, 10000);
    assert_contains(written(page, "en", "", "{}"), "changed{}");
    write_file("page", "page.html", "{{nothing}} of a page");
    waiting_page_refresh(page, 10500);
    waiting_page_refresh(page, 20000);
    assert_contains(written(page, "en", "", "{}"), "changed{}");
    waiting_page_free(page);
    (void)make_files(NULL);
}

static void write_second_version(void)
{
    write_file("page", "page.html", "second {{style}}{{script}}{{logo}}{{texts}}{{text.hello}}");
    write_file("page", "page.css", "second{}");
}

static void theme_comes(void)
{
    write_file("own", "page.js", "theme();");
}

TEST(files_that_change_under_the_reading_leave_the_page_as_it_was)
{
    struct waiting_page *page = open_page("");

    write_file("page", "page.css", "first{}");
    change_behind = "/page.html";
    change = write_second_version;
    waiting_page_refresh(page, 10000);
    assert_null(change_behind);
    assert_contains(written(page, "en", "", "{}"), "<style nonce=abc>a{}</style>");
    waiting_page_refresh(page, 20000);
    assert_contains(written(page, "en", "", "{}"), "second second{}");
    waiting_page_free(page);
    (void)make_files(NULL);
}

TEST(files_that_change_under_the_first_reading_are_read_again)
{
    change_behind = "/page.html";
    change = write_second_version;
    struct waiting_page *page = open_page("");

    assert_contains(written(page, "en", "", "{}"), "second{}</style>");
    waiting_page_refresh(page, 10000);
    assert_contains(written(page, "en", "", "{}"), "second second{}");
    waiting_page_free(page);
    (void)make_files(NULL);
}

TEST(a_theme_s_file_that_comes_under_the_reading_counts)
{
    change_behind = "/script/main.js";
    change = theme_comes;
    struct waiting_page *page = open_page(theme);

    assert_contains(written(page, "en", "", "{}"), "</script>first();");
    waiting_page_refresh(page, 10000);
    assert_contains(written(page, "en", "", "{}"), "</script>theme();");
    waiting_page_free(page);
    (void)remove(scratch_path("own/page.js"));
}

TEST(what_cannot_be_a_page_is_refused_with_a_sentence)
{
    char error[WAITING_PAGE_ERROR] = "";

    assert_null(waiting_page_open("/nowhere", "", error));
    assert_contains(error, "/nowhere/page.html");
    write_file("page", "page.html", "{{text.missing}}");
    assert_null(waiting_page_open(directory, "", error));
    assert_contains(error, "text.missing");
    write_file("page", "page.html", "x");
    write_file("page/texts", "ko.json", "[]");
    assert_null(waiting_page_open(directory, "", error));
    assert_contains(error, "texts/ko.json");
    write_file("page/script", "main.js", "//@include missing");
    assert_null(waiting_page_open(directory, "", error));
    assert_contains(error, "script/missing.js");
    static const char *const NO_PARTS[] = {"//@include ../one", "//@include ",
                                           "//@include one two\n",
                                           "//@include a-name-that-is-longer-than-a-part"};
    for (size_t i = 0; i < sizeof(NO_PARTS) / sizeof(NO_PARTS[0]); i++) {
        write_file("page/script", "main.js", NO_PARTS[i]);
        assert_null(waiting_page_open(directory, "", error));
        assert_contains(error, "script/main.js includes");
    }
    (void)make_files(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_is_in_its_place),
        cmocka_unit_test(no_text_breaks_out_of_its_place),
        cmocka_unit_test(the_language_is_the_choice_then_the_header_then_english),
        cmocka_unit_test(a_theme_replaces_what_it_has),
        cmocka_unit_test(a_text_that_a_theme_lacks_is_the_default_one),
        cmocka_unit_test(a_theme_replaces_a_part_or_the_whole_of_the_script),
        cmocka_unit_test(a_part_that_changes_or_comes_late_counts),
        cmocka_unit_test(a_changed_file_counts_and_a_broken_one_does_not),
        cmocka_unit_test(files_that_change_under_the_reading_leave_the_page_as_it_was),
        cmocka_unit_test(files_that_change_under_the_first_reading_are_read_again),
        cmocka_unit_test(a_theme_s_file_that_comes_under_the_reading_counts),
        cmocka_unit_test(what_cannot_be_a_page_is_refused_with_a_sentence),
    };

    return cmocka_run_group_tests(tests, make_files, NULL);
}
