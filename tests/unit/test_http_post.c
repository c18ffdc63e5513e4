#include "tests/unit/unit.h"

#include <string.h>

#include "lib/captcha/http_post.h"

TEST(only_tls_and_this_machine_are_spoken_to)
{
    static const char *const ALLOWED[] = {
        "https://challenges.example.com/turnstile/v0/siteverify",
        "https://[2001:db8::1]:8443/siteverify",
        "http://127.0.0.1:8000/siteverify",
        "http://[::1]:8000/siteverify",
        "http://localhost/siteverify",
    };
    static const char *const REFUSED[][2] = {
        {"", "is no address"},
        {"siteverify", "is no address"},
        {"http://example.com/siteverify", "must begin with https://"},
        {"http://127.0.0.1.example.com/", "must begin with https://"},
        {"http://localhost.example.com/", "must begin with https://"},
        {"http://127.0.0.1@example.com/", "must not hold a user"},
        {"https://user:word@example.com/", "must not hold a user"},
        {"ftp://127.0.0.1/siteverify", "must begin with https://"},
        {"file:///etc/passwd", "is no address"},
        {"https://", "is no address"},
        {"https://exa mple.com/", "is no address"},
    };

    for (size_t i = 0; i < COUNT(ALLOWED); i++) {
        char error[HTTP_POST_ERROR] = "";
        struct http_post *post = http_post_open(ALLOWED[i], 1000, error);
        assert_string_equal(error, "");
        assert_non_null(post);
        http_post_close(post);
    }
    for (size_t i = 0; i < COUNT(REFUSED); i++) {
        char error[HTTP_POST_ERROR] = "";
        if (http_post_open(REFUSED[i][0], 1000, error) != NULL) {
            fail_msg("'%s' was accepted", REFUSED[i][0]);
        }
        if (strstr(error, REFUSED[i][1]) == NULL) {
            fail_msg("'%s': %s", REFUSED[i][0], error);
        }
    }
    http_post_close(NULL);
}

TEST(no_value_can_add_a_field_to_the_form)
{
    const struct http_field fields[] = {
        {.name = "secret", .value = STR("a&b=c d+e%\n")},
        {.name = "response", .value = STR("A-Z._~\xed\x95\x9c\0x")},
        {.name = "empty", .value = {NULL, 0}},
    };
    struct buffer form;

    buffer_init(&form, 1024);
    http_form_write(&form, fields, COUNT(fields));
    assert_text(buffer_text(&form),
                "secret=a%26b%3Dc%20d%2Be%25%0A&response=A-Z._~%ED%95%9C%00x&empty=");
    buffer_free(&form);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_tls_and_this_machine_are_spoken_to),
        cmocka_unit_test(no_value_can_add_a_field_to_the_form),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
