#include "tests/unit/unit.h"

#include <string.h>

#include "lib/identity/text_secret.h"
#include "tests/unit/capture.h"
#include "tests/unit/scratch.h"

TEST(one_printable_line_is_a_secret)
{
    static const struct {
        const char *text;
        const char *secret; /* NULL: refused */
    } CASES[] = {
        {"abc", "abc"}, {"abc\n", "abc"}, {"abc\r\n", "abc"},     {"abc\nmore\n", "abc"},
        {"", NULL},     {"\n", NULL},     {"two words", NULL},    {" abc", NULL},
        {"a\tb", NULL}, {"a\x01", NULL},  {"\xed\x95\x9c", NULL},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        char error[TEXT_SECRET_ERROR] = "";
        struct text_secret secret;
        bool good = text_secret_open(&secret, scratch_write("secret", CASES[i].text, 0600), error);
        assert_int_equal(good, CASES[i].secret != NULL);
        if (good) {
            assert_text(text_secret_now(&secret), CASES[i].secret);
        } else {
            assert_true(error[0] != '\0');
            assert_lacks(error, "two words");
        }
        text_secret_close(&secret);
        assert_int_equal(secret.text[0], '\0');
    }
}

TEST(a_secret_has_a_greatest_length)
{
    char text[TEXT_SECRET_MAX + 2];
    char error[TEXT_SECRET_ERROR] = "";
    struct text_secret secret;

    memset(text, 'x', sizeof(text) - 1);
    text[TEXT_SECRET_MAX + 1] = '\0';
    assert_false(text_secret_open(&secret, scratch_write("long", text, 0600), error));
    text_secret_close(&secret);
    text[TEXT_SECRET_MAX] = '\0';
    assert_true(text_secret_open(&secret, scratch_write("long", text, 0600), error));
    assert_text(text_secret_now(&secret), text);
    text_secret_close(&secret);
}

TEST(what_others_may_read_is_no_secret)
{
    char error[TEXT_SECRET_ERROR] = "";
    struct text_secret secret;

    assert_false(text_secret_open(&secret, scratch_write("open", "abc\n", 0644), error));
    assert_true(error[0] != '\0');
    text_secret_close(&secret);
    assert_false(text_secret_open(&secret, scratch_path("missing"), error));
    text_secret_close(&secret);
}

/* The next look at the file is due. */
static struct str looked_at_again(struct text_secret *secret)
{
    secret->file.looked_at_ms -= 2 * WATCH_INTERVAL_MS;
    return text_secret_now(secret);
}

TEST(a_changed_file_is_read_again_and_a_bad_one_is_not_taken)
{
    char error[TEXT_SECRET_ERROR] = "";
    struct text_secret secret;

    assert_true(text_secret_open(&secret, scratch_write("turn", "first-one\n", 0600), error));
    (void)scratch_write("turn", "second\n", 0600);
    assert_text(looked_at_again(&secret), "second");
    capture_begin(2);
    (void)scratch_write("turn", "not one word\n", 0600);
    assert_text(looked_at_again(&secret), "second");
    const char *log = capture_end(2);
    assert_contains(log, "keys.kept");
    assert_lacks(log, "not one word");
    (void)scratch_write("turn", "third\n", 0600);
    assert_text(looked_at_again(&secret), "third");
    text_secret_close(&secret);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_printable_line_is_a_secret),
        cmocka_unit_test(a_secret_has_a_greatest_length),
        cmocka_unit_test(what_others_may_read_is_no_secret),
        cmocka_unit_test(a_changed_file_is_read_again_and_a_bad_one_is_not_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
