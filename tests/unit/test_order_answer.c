/*
 * order_answer: an order on the wire; ids and cursors that come back from outside.
 */
#include "tests/unit/unit.h"

#include "fcgi-app/order/orders/order_answer.h"

static struct str written(struct buffer *out, const struct order *order)
{
    buffer_init(out, 4096);
    order_answer_write(out, order);
    assert_true(buffer_ok(out));
    return buffer_text(out);
}

TEST(an_order_is_written_as_the_contract_says)
{
    const struct order_item items[] = {{STR("cap"), 2, 900}, {STR("mug"), 1, 1500}};
    const struct order order = {.id = STR("o_1"),
                                .queue = STR("sale"),
                                .status = STR("PENDING_PAYMENT"),
                                .currency = STR("KRW"),
                                .total = 3300,
                                .created_us = 1769860800123456,
                                .expires_us = 1769861700123456,
                                .payment = STR("OPEN"),
                                .pay_until_us = 1769861640123456,
                                .items = items,
                                .item_count = COUNT(items)};
    struct buffer out;

    assert_text(
        written(&out, &order),
        "{\"id\":\"o_1\",\"queue\":\"sale\",\"status\":\"PENDING_PAYMENT\",\"items\":["
        "{\"sku\":\"cap\",\"quantity\":2,\"unitPrice\":{\"amount\":900,\"currency\":\"KRW\"}},"
        "{\"sku\":\"mug\",\"quantity\":1,\"unitPrice\":{\"amount\":1500,\"currency\":\"KRW\"}}],"
        "\"seats\":[],\"total\":{\"amount\":3300,\"currency\":\"KRW\"},"
        "\"createdAt\":\"2026-01-31T12:00:00.123Z\",\"expiresAt\":\"2026-01-31T12:15:00.123Z\","
        "\"payment\":\"OPEN\",\"payUntil\":\"2026-01-31T12:14:00.123Z\"}");
    buffer_free(&out);
}

TEST(a_free_order_has_no_end)
{
    const struct order_item items[] = {{STR("gift"), 1, 0}};
    const struct order order = {.id = STR("o_1"),
                                .queue = STR("q"),
                                .status = STR("PAID"),
                                .currency = STR("KRW"),
                                .expires_us = -1,
                                .pay_until_us = -1,
                                .items = items,
                                .item_count = COUNT(items)};
    struct buffer out;

    assert_text(
        written(&out, &order),
        "{\"id\":\"o_1\",\"queue\":\"q\",\"status\":\"PAID\",\"items\":["
        "{\"sku\":\"gift\",\"quantity\":1,\"unitPrice\":{\"amount\":0,\"currency\":\"KRW\"}}],"
        "\"seats\":[],\"total\":{\"amount\":0,\"currency\":\"KRW\"},"
        "\"createdAt\":\"1970-01-01T00:00:00.000Z\",\"expiresAt\":null,"
        "\"payment\":null,\"payUntil\":null}");
    buffer_free(&out);
}

TEST(ids_of_another_form_are_no_orders)
{
    static const struct {
        struct str id;
        bool valid;
    } CASES[] = {
        {STR("o_AAAAAAAAAAAAAAAAAAAAAA"), true},
        {STR("o_zD3-_lGlgmmDAo8GuB1_0g"), true},
        {STR(""), false},
        {STR("o_"), false},
        {STR("x_AAAAAAAAAAAAAAAAAAAAAA"), false},
        {STR("o_AAAAAAAAAAAAAAAAAAAAA"), false},
        {STR("o_AAAAAAAAAAAAAAAAAAAAAAA"), false},
        {STR("o_AAAAAAAAAAAAAAAAAAAA%A"), false},
        {STR("o_AAAAAAAAAAAAAAAAAAAAA\0"), false},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        assert_int_equal(order_id_is_valid(CASES[i].id), CASES[i].valid);
    }
}

TEST(only_our_own_cursors_are_taken)
{
    assert_true(order_cursor_is_valid(STR("1769860800123456.o_AAAAAAAAAAAAAAAAAAAAAA")));
    assert_false(order_cursor_is_valid(STR("")));
    assert_false(order_cursor_is_valid(STR("1769860800123456")));
    assert_false(order_cursor_is_valid(STR(".o_AAAAAAAAAAAAAAAAAAAAAA")));
    assert_false(order_cursor_is_valid(STR("-1.o_AAAAAAAAAAAAAAAAAAAAAA")));
    assert_false(order_cursor_is_valid(STR("9999999999999999999.o_AAAAAAAAAAAAAAAAAAAAAA")));
    assert_false(order_cursor_is_valid(STR("1.o_AAAAAAAAAAAAAAAAAAAAAA.")));
    assert_false(order_cursor_is_valid(STR("1 .o_AAAAAAAAAAAAAAAAAAAAAA")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_is_written_as_the_contract_says),
        cmocka_unit_test(a_free_order_has_no_end),
        cmocka_unit_test(ids_of_another_form_are_no_orders),
        cmocka_unit_test(only_our_own_cursors_are_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
