#include "fcgi-app/order/orders/order_body.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/base/identifier.h"

enum { CANONICAL_MAX = 16 * 1024 };

static bool read_item(struct arena *arena, json_object *json, size_t position,
                      struct order_item *item, struct body_fault *fault)
{
    static const char *const MEMBERS[] = {"sku", "quantity", NULL};
    const char *at = arena_format(arena, "/items/%zu", position);
    json_object *quantity;

    if (!json_object_is_type(json, json_type_object)) {
        return body_fail(fault, at, "An item must be an object with sku and quantity.");
    }
    if (!body_only_members(arena, json, at, MEMBERS, fault)) {
        return false;
    }
    if (!body_slug(json, "sku", &item->sku)) {
        return body_fail(fault, arena_format(arena, "%s/sku", at),
                         "The SKU must be 1 to 63 of a-z, 0-9 and '-', not beginning with '-'.");
    }
    if (!json_object_object_get_ex(json, "quantity", &quantity) ||
        !json_object_is_type(quantity, json_type_int) || json_object_get_int64(quantity) < 1 ||
        json_object_get_int64(quantity) > ORDER_QUANTITY_MAX) {
        return body_fail(fault, arena_format(arena, "%s/quantity", at),
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

/* Inserts the item at `position` of the request, sorted by SKU. */
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
                       struct body_fault *fault)
{
    json_object *list;

    if (!json_object_object_get_ex(json, "items", &list) ||
        !json_object_is_type(list, json_type_array)) {
        return body_fail(fault, "/items", "The items must be a list.");
    }
    size_t count = json_object_array_length(list);
    if (count < 1 || count > ORDER_ITEMS_MAX) {
        return body_fail(fault, "/items", "An order has 1 to 50 items.");
    }
    body->items = arena_alloc(arena, count * sizeof(*body->items));
    body->positions = arena_alloc(arena, count * sizeof(*body->positions));
    for (size_t i = 0; i < count; i++) {
        struct order_item item = {0};
        if (!read_item(arena, json_object_array_get_idx(list, i), i, &item, fault)) {
            return false;
        }
        if (!insert(body, &item, i)) {
            return body_fail(
                fault, arena_format(arena, "/items/%zu/sku", i),
                "The SKU appears in the list twice. Send it once, with the total quantity.");
        }
    }
    return true;
}

static void add_items(struct buffer *out, const struct order_body *body)
{
    buffer_add(out, STR(",\"items\":["));
    for (size_t i = 0; i < body->item_count; i++) {
        buffer_format(out, "%s{\"sku\":\"%.*s\",\"quantity\":%lld}", i > 0 ? "," : "",
                      STR_ARG(body->items[i].sku), (long long)body->items[i].quantity);
    }
}

static void add_seats(struct buffer *out, const struct order_body *body)
{
    buffer_format(out, ",\"show\":\"%.*s\",\"seats\":[", STR_ARG(body->show));
    for (size_t i = 0; i < body->seats.count; i++) {
        buffer_format(out, "%s\"%.*s\"", i > 0 ? "," : "", STR_ARG(body->seats.seats[i]));
    }
}

static void take_fingerprint(struct order_body *body)
{
    struct buffer canonical;

    buffer_init(&canonical, CANONICAL_MAX);
    buffer_format(&canonical, "{\"queue\":\"%.*s\"", STR_ARG(body->queue));
    if (body->show.n > 0) {
        add_seats(&canonical, body);
    } else {
        add_items(&canonical, body);
    }
    buffer_add(&canonical, STR("]}"));
    sha256_text(buffer_text(&canonical), body->fingerprint);
    buffer_free(&canonical);
}

static bool read_goods(struct arena *arena, json_object *json, bool wants_seats,
                       struct order_body *body, struct body_fault *fault)
{
    if (!wants_seats) {
        return read_items(arena, json, body, fault);
    }
    if (!body_slug(json, "show", &body->show)) {
        return body_fail(fault, "/show",
                         "The show must be 1 to 63 of a-z, 0-9 and '-', not beginning with '-'.");
    }
    return body_seats_read(arena, json, 1, ORDER_SEATS_MAX, &body->seats, fault);
}

/* Many clients send null for what they leave out. */
static bool is_given(json_object *json, const char *name)
{
    return json_object_object_get(json, name) != NULL;
}

bool order_body_read(struct arena *arena, json_object *json, struct order_body *body,
                     struct body_fault *fault)
{
    static const char *const MEMBERS[] = {"queue", "items", "show", "seats", NULL};
    bool wants_seats =
        is_given(json, "show") || (is_given(json, "seats") && !is_given(json, "items"));

    *body = (struct order_body){0};
    if (!body_only_members(arena, json, "", MEMBERS, fault)) {
        return false;
    }
    if (is_given(json, wants_seats ? "items" : "seats")) {
        return body_fail(fault, wants_seats ? "/items" : "/seats",
                         "An order has either items, or a show and its seats.");
    }
    if (!body_slug(json, "queue", &body->queue)) {
        return body_fail(fault, "/queue",
                         "The queue must be 1 to 63 of a-z, 0-9 and '-', not beginning with '-'.");
    }
    if (!read_goods(arena, json, wants_seats, body, fault)) {
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
