/*
 * postgres_array: what PostgreSQL reads from a literal are the elements that were given.
 */
#include "tests/unit/unit.h"

#include "lib/store/postgres_array.h"

TEST(each_text_is_quoted_so_that_none_is_sql_null)
{
    const struct str texts[] = {STR("null"), STR("NULL"), STR(""),
                                STR("a,b"),  STR("{}"),   STR(" c ")};
    struct arena *arena = arena_new();

    assert_string_equal(postgres_text_array(arena, texts, COUNT(texts)),
                        "{\"null\",\"NULL\",\"\",\"a,b\",\"{}\",\" c \"}");
    assert_string_equal(postgres_text_array(arena, texts, 1), "{\"null\"}");
    assert_string_equal(postgres_text_array(arena, NULL, 0), "{}");
    arena_free(arena);
}

TEST(quotes_and_backslashes_are_escaped_and_always_fit)
{
    const struct str texts[] = {STR("\"\"\\\\\""), STR("a\"b\\c"), STR("\\")};
    struct arena *arena = arena_new();

    assert_string_equal(postgres_text_array(arena, texts, COUNT(texts)),
                        "{\"\\\"\\\"\\\\\\\\\\\"\",\"a\\\"b\\\\c\",\"\\\\\"}");
    assert_string_equal(postgres_text_array(arena, texts, 1), "{\"\\\"\\\"\\\\\\\\\\\"\"}");
    arena_free(arena);
}

TEST(numbers_of_any_length_fit)
{
    const int64_t numbers[] = {INT64_MIN, INT64_MIN, 0, INT64_MAX};
    struct arena *arena = arena_new();

    assert_string_equal(postgres_int_array(arena, numbers, COUNT(numbers)),
                        "{-9223372036854775808,-9223372036854775808,0,9223372036854775807}");
    assert_string_equal(postgres_int_array(arena, numbers, 2),
                        "{-9223372036854775808,-9223372036854775808}");
    assert_string_equal(postgres_int_array(arena, NULL, 0), "{}");
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_text_is_quoted_so_that_none_is_sql_null),
        cmocka_unit_test(quotes_and_backslashes_are_escaped_and_always_fit),
        cmocka_unit_test(numbers_of_any_length_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
