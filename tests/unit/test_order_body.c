/*
 * order_body: what POST /v1/orders takes, where it says that a body is wrong, and what makes two
 * bodies the same request.
 */
#include "tests/unit/unit.h"

#include <string.h>

#include "fcgi-app/order/orders/order_body.h"

static struct arena *arena;

static int make_arena(void **state)
{
    (void)state;
    arena = arena_new();
    return 0;
}

static int free_arena(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static void release_json(void *object)
{
    (void)json_object_put(object);
}

static bool read_body(const char *text, struct order_body *body, struct body_fault *fault)
{
    json_object *object = json_tokener_parse(text);

    assert_non_null(object);
    arena_on_reset(arena, release_json, object);
    return order_body_read(arena, object, body, fault);
}

static const char *fingerprint(const char *text)
{
    struct order_body body;
    struct body_fault fault;

    assert_true(read_body(text, &body, &fault));
    return arena_copy(arena, str_of(body.fingerprint));
}

TEST(an_order_is_a_queue_and_its_items)
{
    struct order_body body;
    struct body_fault fault;

    assert_true(read_body("{\"queue\":\"sale\",\"items\":[{\"sku\":\"mug\",\"quantity\":10000}]}",
                          &body, &fault));
    assert_text(body.queue, "sale");
    assert_int_equal(body.item_count, 1);
    assert_text(body.items[0].sku, "mug");
    assert_int_equal(body.items[0].quantity, 10000);
    assert_int_equal(strlen(body.fingerprint), SHA256_TEXT);
}

TEST(items_are_sorted_and_still_found_where_they_stood)
{
    struct order_body body;
    struct body_fault fault;

    assert_true(read_body("{\"queue\":\"q\",\"items\":[{\"sku\":\"mug\",\"quantity\":1},"
                          "{\"sku\":\"cap\",\"quantity\":2},{\"sku\":\"mug-2\",\"quantity\":3},"
                          "{\"sku\":\"m\",\"quantity\":4}]}",
                          &body, &fault));
    assert_text(body.items[0].sku, "cap");
    assert_text(body.items[1].sku, "m");
    assert_text(body.items[2].sku, "mug");
    assert_text(body.items[3].sku, "mug-2");
    assert_int_equal(body.items[1].quantity, 4);
    assert_string_equal(order_body_pointer(arena, &body, STR("mug")), "/items/0/sku");
    assert_string_equal(order_body_pointer(arena, &body, STR("m")), "/items/3/sku");
    assert_string_equal(order_body_pointer(arena, &body, STR("hat")), "/items");
}

TEST(an_order_may_be_a_show_and_its_seats)
{
    struct order_body body;
    struct body_fault fault;

    assert_true(read_body("{\"queue\":\"q\",\"show\":\"s\",\"seats\":[\"B-1\",\"A-10\",\"A-1\"]}",
                          &body, &fault));
    assert_text(body.show, "s");
    assert_int_equal(body.item_count, 0);
    assert_int_equal(body.seats.count, 3);
    assert_text(body.seats.seats[0], "A-1");
    assert_text(body.seats.seats[1], "A-10");
    assert_text(body.seats.seats[2], "B-1");
}

TEST(the_fingerprint_of_seats_is_that_of_the_show_and_the_set)
{
    static const char *const OTHERS[] = {
        "{\"queue\":\"q\",\"show\":\"t\",\"seats\":[\"A\",\"B\"]}",
        "{\"queue\":\"r\",\"show\":\"s\",\"seats\":[\"A\",\"B\"]}",
        "{\"queue\":\"q\",\"show\":\"s\",\"seats\":[\"A\"]}",
        "{\"queue\":\"q\",\"show\":\"s\",\"seats\":[\"a\",\"B\"]}",
    };
    const char *one = fingerprint("{\"queue\":\"q\",\"show\":\"s\",\"seats\":[\"A\",\"B\"]}");

    assert_string_equal(one,
                        fingerprint("{\"seats\":[\"B\",\"A\"],\"show\":\"s\",\"queue\":\"q\"}"));
    for (size_t i = 0; i < COUNT(OTHERS); i++) {
        assert_string_not_equal(one, fingerprint(OTHERS[i]));
    }
}

TEST(the_fingerprint_does_not_depend_on_how_a_body_is_written)
{
    const char *one = fingerprint("{\"queue\":\"q\",\"items\":[{\"sku\":\"a\",\"quantity\":1},"
                                  "{\"sku\":\"b\",\"quantity\":2}]}");

    assert_string_equal(one,
                        fingerprint("{ \"items\" : [ {\"quantity\":2,\"sku\":\"b\"},\n"
                                    "{\"quantity\":1,\"sku\":\"\\u0061\"} ], \"queue\":\"q\"}"));
}

TEST(null_for_the_parts_of_the_other_form_is_as_if_they_were_left_out)
{
    assert_string_equal(fingerprint("{\"queue\":\"q\",\"items\":[{\"sku\":\"a\",\"quantity\":1}]}"),
                        fingerprint("{\"queue\":\"q\",\"items\":[{\"sku\":\"a\",\"quantity\":1}],"
                                    "\"show\":null,\"seats\":null}"));
    assert_string_equal(fingerprint("{\"queue\":\"q\",\"show\":\"s\",\"seats\":[\"A\"]}"),
                        fingerprint("{\"queue\":\"q\",\"items\":null,\"show\":\"s\","
                                    "\"seats\":[\"A\"]}"));
}

TEST(another_queue_item_or_quantity_has_another_fingerprint)
{
    static const char *const OTHERS[] = {
        "{\"queue\":\"r\",\"items\":[{\"sku\":\"a\",\"quantity\":1}]}",
        "{\"queue\":\"q\",\"items\":[{\"sku\":\"b\",\"quantity\":1}]}",
        "{\"queue\":\"q\",\"items\":[{\"sku\":\"a\",\"quantity\":2}]}",
        "{\"queue\":\"q\",\"items\":[{\"sku\":\"a\",\"quantity\":1},{\"sku\":\"b\",\"quantity\":1}]"
        "}",
    };
    const char *one = fingerprint("{\"queue\":\"q\",\"items\":[{\"sku\":\"a\",\"quantity\":1}]}");

    for (size_t i = 0; i < COUNT(OTHERS); i++) {
        assert_string_not_equal(one, fingerprint(OTHERS[i]));
    }
}

TEST(a_wrong_body_is_refused_at_the_pointer_at_fault)
{
    static const struct {
        const char *body;
        const char *pointer;
    } CASES[] = {
        {"{}", "/queue"},
        {"{\"queue\":1,\"items\":[]}", "/queue"},
        {"{\"queue\":\"Q\",\"items\":[]}", "/queue"},
        {"{\"queue\":\"-q\",\"items\":[]}", "/queue"},
        {"{\"queue\":null}", "/queue"},
        {"{\"queue\":\"q\"}", "/items"},
        {"{\"queue\":\"q\",\"items\":{}}", "/items"},
        {"{\"queue\":\"q\",\"items\":[]}", "/items"},
        {"{\"queue\":\"q\",\"items\":[null]}", "/items/0"},
        {"{\"queue\":\"q\",\"items\":[{\"sku\":\"a\",\"quantity\":1},7]}", "/items/1"},
        {"{\"queue\":\"q\",\"items\":[{\"quantity\":1}]}", "/items/0/sku"},
        {"{\"queue\":\"q\",\"items\":[{\"sku\":\"\",\"quantity\":1}]}", "/items/0/sku"},
        {"{\"queue\":\"q\",\"items\":[{\"sku\":\"a:b\",\"quantity\":1}]}", "/items/0/sku"},
        {"{\"queue\":\"q\",\"items\":[{\"sku\":\"a\"}]}", "/items/0/quantity"},
        {"{\"queue\":\"q\",\"items\":[{\"sku\":\"a\",\"quantity\":0}]}", "/items/0/quantity"},
        {"{\"queue\":\"q\",\"items\":[{\"sku\":\"a\",\"quantity\":-1}]}", "/items/0/quantity"},
        {"{\"queue\":\"q\",\"items\":[{\"sku\":\"a\",\"quantity\":10001}]}", "/items/0/quantity"},
        {"{\"queue\":\"q\",\"items\":[{\"sku\":\"a\",\"quantity\":99999999999999999999}]}",
         "/items/0/quantity"},
        {"{\"queue\":\"q\",\"items\":[{\"sku\":\"a\",\"quantity\":1.5}]}", "/items/0/quantity"},
        {"{\"queue\":\"q\",\"items\":[{\"sku\":\"a\",\"quantity\":\"1\"}]}", "/items/0/quantity"},
        {"{\"queue\":\"q\",\"items\":[{\"sku\":\"a\",\"quantity\":true}]}", "/items/0/quantity"},
        {"{\"queue\":\"q\",\"items\":[{\"sku\":\"a\",\"quantity\":1,\"price\":0}]}",
         "/items/0/price"},
        {"{\"queue\":\"q\",\"items\":[{\"sku\":\"a\",\"quantity\":1},{\"sku\":\"a\",\"quantity\":1}"
         "]}",
         "/items/1/sku"},
        {"{\"queue\":\"q\",\"show\":\"S\",\"seats\":[\"A-1\"]}", "/show"},
        {"{\"queue\":\"q\",\"show\":null,\"seats\":[\"A-1\"]}", "/show"},
        {"{\"queue\":\"q\",\"show\":\"s\"}", "/seats"},
        {"{\"queue\":\"q\",\"show\":\"s\",\"seats\":[]}", "/seats"},
        {"{\"queue\":\"q\",\"show\":\"s\",\"seats\":\"A-1\"}", "/seats"},
        {"{\"queue\":\"q\",\"show\":\"s\",\"seats\":[\"A-1\",7]}", "/seats/1"},
        {"{\"queue\":\"q\",\"show\":\"s\",\"seats\":[\"A/1\"]}", "/seats/0"},
        {"{\"queue\":\"q\",\"show\":\"s\",\"seats\":[\"\"]}", "/seats/0"},
        {"{\"queue\":\"q\",\"show\":\"s\",\"seats\":[\"B\",\"A\",\"B\"]}", "/seats/2"},
        {"{\"queue\":\"q\",\"show\":\"s\",\"seats\":[\"A\"],\"items\":[]}", "/items"},
        {"{\"queue\":\"q\",\"seats\":[\"A-1\"]}", "/show"},
        {"{\"queue\":\"q\",\"items\":[],\"seats\":[\"A-1\"]}", "/seats"},
        {"{\"queue\":\"q\",\"items\":null}", "/items"},
        {"{\"queue\":\"q\",\"a/b~c\":1}", "/a~1b~0c"},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct order_body body;
        struct body_fault fault = {"(none)", ""};

        assert_false(read_body(CASES[i].body, &body, &fault));
        assert_string_equal(fault.pointer, CASES[i].pointer);
        assert_true(strlen(fault.why) > 0);
    }
}

static const char *with_items(int count)
{
    char *text = arena_format(arena, "{\"queue\":\"q\",\"items\":[");

    for (int i = 0; i < count; i++) {
        text =
            arena_format(arena, "%s%s{\"sku\":\"s%d\",\"quantity\":1}", text, i > 0 ? "," : "", i);
    }
    return arena_format(arena, "%s]}", text);
}

TEST(fifty_items_are_the_most)
{
    struct order_body body;
    struct body_fault fault;

    assert_true(read_body(with_items(50), &body, &fault));
    assert_int_equal(body.item_count, 50);
    assert_false(read_body(with_items(51), &body, &fault));
    assert_string_equal(fault.pointer, "/items");
}

static const char *with_seats(int count)
{
    char *text = arena_format(arena, "{\"queue\":\"q\",\"show\":\"s\",\"seats\":[");

    for (int i = 0; i < count; i++) {
        text = arena_format(arena, "%s%s\"A-%d\"", text, i > 0 ? "," : "", i);
    }
    return arena_format(arena, "%s]}", text);
}

TEST(a_hundred_seats_are_the_most)
{
    struct order_body body;
    struct body_fault fault;

    assert_true(read_body(with_seats(100), &body, &fault));
    assert_int_equal(body.seats.count, 100);
    assert_false(read_body(with_seats(101), &body, &fault));
    assert_string_equal(fault.pointer, "/seats");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_is_a_queue_and_its_items),
        cmocka_unit_test(items_are_sorted_and_still_found_where_they_stood),
        cmocka_unit_test(an_order_may_be_a_show_and_its_seats),
        cmocka_unit_test(the_fingerprint_of_seats_is_that_of_the_show_and_the_set),
        cmocka_unit_test(the_fingerprint_does_not_depend_on_how_a_body_is_written),
        cmocka_unit_test(null_for_the_parts_of_the_other_form_is_as_if_they_were_left_out),
        cmocka_unit_test(another_queue_item_or_quantity_has_another_fingerprint),
        cmocka_unit_test(a_wrong_body_is_refused_at_the_pointer_at_fault),
        cmocka_unit_test(fifty_items_are_the_most),
        cmocka_unit_test(a_hundred_seats_are_the_most),
    };

    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
