#include "tests/unit/unit.h"

#include "lib/base/identifier.h"
#include "lib/database/coupons/coupon_store.h"

TEST(a_code_is_printable_ascii_without_spaces)
{
    static const char *const GOOD[] = {
        "A", "!\"\\{},~", "0123456789012345678901234567890123456789012345678901234567890123"};
    static const char *const BAD[] = {
        "",      "A B",      "A\tB",
        "A\x7f", "\xc3\xa9", "01234567890123456789012345678901234567890123456789012345678901234"};

    for (size_t i = 0; i < COUNT(GOOD); i++) {
        assert_true(coupon_code_is_valid(str_of(GOOD[i])));
    }
    for (size_t i = 0; i < COUNT(BAD); i++) {
        assert_false(coupon_code_is_valid(str_of(BAD[i])));
    }
    assert_false(coupon_code_is_valid(STR("A\0B")));
}

TEST(no_order_has_the_key_of_an_event)
{
    struct arena *arena = arena_new();
    struct str key = coupon_key(arena, STR("spring"));
    struct str read;

    assert_true(str_equal(key, coupon_key(arena, STR("spring"))));
    assert_false(str_equal(key, coupon_key(arena, STR("autumn"))));
    assert_false(identifier_idempotency_key(key, &read));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_code_is_printable_ascii_without_spaces),
        cmocka_unit_test(no_order_has_the_key_of_an_event),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
