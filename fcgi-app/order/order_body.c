#include "fcgi-app/order/order_body.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/base/identifier.h"

enum { FAULT_NAME_MAX = 64, CANONICAL_MAX = 16 * 1024 };

static bool fail(struct order_body_fault *fault, const char *pointer, const char *why)
{
    fault->pointer = pointer;
    fault->why = why;
    return false;
}

/* A member's name as a piece of a JSON pointer. */
static const char *escape(struct arena *arena, const char *name)
{
    struct buffer out;

    buffer_init(&out, FAULT_NAME_MAX * 2);
    for (size_t i = 0; i < FAULT_NAME_MAX && name[i] != '\0'; i++) {
        if (name[i] == '~' || name[i] == '/') {
            buffer_add_char(&out, '~');
            buffer_add_char(&out, name[i] == '~' ? '0' : '1');
        } else {
            buffer_add_char(&out, name[i]);
        }
    }
    const char *copy = arena_copy(arena, buffer_text(&out));
    buffer_free(&out);
    return copy;
}

/* `object` has no members but these two. */
static bool only_members(struct arena *arena, json_object *object, const char *at, const char *one,
                         const char *other, struct order_body_fault *fault)
{
    json_object_object_foreach(object, name, value)
    {
        (void)value;
        if (strcmp(name, one) != 0 && strcmp(name, other) != 0) {
            return fail(fault, arena_format(arena, "%s/%s", at, escape(arena, name)),
                        "There is no such field.");
        }
    }
    return true;
}

static bool read_slug(json_object *object, const char *name, struct str *slug)
{
    json_object *value;

    if (!json_object_object_get_ex(object, name, &value) ||
        !json_object_is_type(value, json_type_string)) {
        return false;
    }
    *slug = str_sized(json_object_get_string(value), (size_t)json_object_get_string_len(value));
    return identifier_is_slug(*slug);
}

static bool read_item(struct arena *arena, json_object *json, size_t position,
                      struct order_item *item, struct order_body_fault *fault)
{
    const char *at = arena_format(arena, "/items/%zu", position);
    json_object *quantity;

    if (!json_object_is_type(json, json_type_object)) {
        return fail(fault, at, "An item is an object with sku and quantity.");
    }
    if (!only_members(arena, json, at, "sku", "quantity", fault)) {
        return false;
    }
    if (!read_slug(json, "sku", &item->sku)) {
        return fail(fault, arena_format(arena, "%s/sku", at),
                    "The SKU must be 1 to 63 of a-z, 0-9 and '-', not beginning with '-'.");
    }
    if (!json_object_object_get_ex(json, "quantity", &quantity) ||
        !json_object_is_type(quantity, json_type_int) || json_object_get_int64(quantity) < 1 ||
        json_object_get_int64(quantity) > ORDER_QUANTITY_MAX) {
        return fail(fault, arena_format(arena, "%s/quantity", at),
                    "The quantity must be a whole number from 1 to 10000.");
    }
    item->quantity = json_object_get_int64(quantity);
    return true;
}

static int compare(struct str a, struct str b)
{
    int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

    return order != 0 ? order : (a.n > b.n) - (a.n < b.n);
}

/* Puts the item at `position` of the request where it belongs by its SKU. */
static bool insert(struct order_body *body, const struct order_item *item, size_t position)
{
    size_t at = body->item_count;

    while (at > 0 && compare(body->items[at - 1].sku, item->sku) >= 0) {
        at--;
    }
    if (at < body->item_count && str_equal(body->items[at].sku, item->sku)) {
        return false;
    }
    size_t behind = body->item_count - at;
    memmove(&body->items[at + 1], &body->items[at], behind * sizeof(*body->items));
    memmove(&body->positions[at + 1], &body->positions[at], behind * sizeof(*body->positions));
    body->items[at] = *item;
    body->positions[at] = position;
    body->item_count++;
    return true;
}

static bool read_items(struct arena *arena, json_object *json, struct order_body *body,
                       struct order_body_fault *fault)
{
    json_object *list;

    if (!json_object_object_get_ex(json, "items", &list) ||
        !json_object_is_type(list, json_type_array)) {
        return fail(fault, "/items", "The items must be a list.");
    }
    size_t count = json_object_array_length(list);
    if (count < 1 || count > ORDER_ITEMS_MAX) {
        return fail(fault, "/items", "An order has 1 to 50 items.");
    }
    body->items = arena_alloc(arena, count * sizeof(*body->items));
    body->positions = arena_alloc(arena, count * sizeof(*body->positions));
    for (size_t i = 0; i < count; i++) {
        struct order_item item = {0};
        if (!read_item(arena, json_object_array_get_idx(list, i), i, &item, fault)) {
            return false;
        }
        if (!insert(body, &item, i)) {
            return fail(fault, arena_format(arena, "/items/%zu/sku", i),
                        "The SKU stands in the list twice: give it once, with the whole quantity.");
        }
    }
    return true;
}

static void take_fingerprint(struct order_body *body)
{
    struct buffer canonical;

    buffer_init(&canonical, CANONICAL_MAX);
    buffer_format(&canonical, "{\"queue\":\"%.*s\",\"items\":[", STR_ARG(body->queue));
    for (size_t i = 0; i < body->item_count; i++) {
        buffer_format(&canonical, "%s{\"sku\":\"%.*s\",\"quantity\":%lld}", i > 0 ? "," : "",
                      STR_ARG(body->items[i].sku), (long long)body->items[i].quantity);
    }
    buffer_add(&canonical, STR("]}"));
    sha256_text(buffer_text(&canonical), body->fingerprint);
    buffer_free(&canonical);
}

bool order_body_read(struct arena *arena, json_object *json, struct order_body *body,
                     struct order_body_fault *fault)
{
    *body = (struct order_body){0};
    if (json_object_object_get_ex(json, "show", NULL)) {
        return fail(fault, "/show", "Seats are not sold here: order items.");
    }
    if (!only_members(arena, json, "", "queue", "items", fault)) {
        return false;
    }
    if (!read_slug(json, "queue", &body->queue)) {
        return fail(fault, "/queue",
                    "The queue must be 1 to 63 of a-z, 0-9 and '-', not beginning with '-'.");
    }
    if (!read_items(arena, json, body, fault)) {
        return false;
    }
    take_fingerprint(body);
    return true;
}

const char *order_body_pointer(struct arena *arena, const struct order_body *body, struct str sku)
{
    for (size_t i = 0; i < body->item_count; i++) {
        if (str_equal(body->items[i].sku, sku)) {
            return arena_format(arena, "/items/%zu/sku", body->positions[i]);
        }
    }
    return "/items";
}
