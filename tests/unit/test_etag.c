#include "tests/unit/unit.h"

#include "fcgi-app/http/etag.h"

TEST(a_tag_is_found_in_a_list_weak_or_strong)
{
    static const char *const MATCHES[] = {"\"a\"",          "W/\"a\"", " \"x\" , \"a\"",
                                          "\"x\",W/\"a\" ", "*",       " * "};
    static const char *const OTHERS[] = {"",        "a",      "\"b\"", "W/", "\"a",
                                         "w/\"a\"", "\"aa\"", ",,",    "**"};

    for (size_t i = 0; i < COUNT(MATCHES); i++) {
        assert_true(etag_matches(str_of(MATCHES[i]), STR("\"a\"")));
    }
    for (size_t i = 0; i < COUNT(OTHERS); i++) {
        assert_false(etag_matches(str_of(OTHERS[i]), STR("\"a\"")));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tag_is_found_in_a_list_weak_or_strong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
