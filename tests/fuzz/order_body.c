/*
 * Bodies of orders: whatever order or form they are written in, one order has one fingerprint.
 */
#include "fcgi-app/order/orders/order_body.h"

#include <string.h>

#include "fcgi-app/http/request.h"
#include "lib/base/buffer.h"
#include "lib/base/identifier.h"
#include "tests/fuzz/fuzz.h"

enum { TEXT_MAX = 64 * 1024 };

static void items_are_sound(const struct order_body *body)
{
    REQUIRE(body->item_count >= 1 && body->item_count <= ORDER_ITEMS_MAX);
    for (size_t i = 0; i < body->item_count; i++) {
        const struct order_item *item = &body->items[i];
        REQUIRE(identifier_is_slug(item->sku));
        REQUIRE(item->quantity >= 1 && item->quantity <= ORDER_QUANTITY_MAX);
        REQUIRE(body->positions[i] < body->item_count);
        for (size_t n = 0; n < i; n++) {
            REQUIRE(!str_equal(body->items[n].sku, item->sku));
            REQUIRE(body->positions[n] != body->positions[i]);
        }
    }
}

static void seats_are_sound(const struct order_body *body)
{
    REQUIRE(identifier_is_slug(body->show));
    REQUIRE(body->item_count == 0);
    REQUIRE(body->seats.count >= 1 && body->seats.count <= ORDER_SEATS_MAX);
    for (size_t i = 0; i < body->seats.count; i++) {
        REQUIRE(identifier_is_seat(body->seats.seats[i]));
        REQUIRE(i == 0 || !str_equal(body->seats.seats[i - 1], body->seats.seats[i]));
    }
}

/* The same order, written the other way round. */
static void write_reversed(struct buffer *out, const struct order_body *body)
{
    buffer_format(out, "{ \"%s\" : [", body->show.n > 0 ? "seats" : "items");
    for (size_t i = body->seats.count; i > 0; i--) {
        buffer_format(out, "%s\n\"%.*s\"", i == body->seats.count ? "" : ",",
                      STR_ARG(body->seats.seats[i - 1]));
    }
    for (size_t i = body->item_count; i > 0; i--) {
        buffer_format(out, "%s{\"quantity\":%lld,\"sku\":\"%.*s\"}",
                      i == body->item_count ? "" : ",", (long long)body->items[i - 1].quantity,
                      STR_ARG(body->items[i - 1].sku));
    }
    buffer_add(out, STR("]"));
    if (body->show.n > 0) {
        buffer_format(out, ",\"show\":\"%.*s\"", STR_ARG(body->show));
    }
    buffer_format(out, ",\"queue\":\"%.*s\"}", STR_ARG(body->queue));
}

static bool read_order(struct arena *arena, struct str text, struct order_body *body,
                       struct body_fault *fault)
{
    const struct request request = {.arena = arena, .body = text};
    const char *why;
    json_object *json = request_json(&request, &why);

    *fault = (struct body_fault){.pointer = "", .why = why};
    return json != NULL && order_body_read(arena, json, body, fault);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = fuzz_arena();
    struct order_body body;
    struct order_body again;
    struct body_fault fault;
    struct buffer text;

    if (!read_order(arena, fuzz_text(data, size), &body, &fault)) {
        REQUIRE(fault.why != NULL && fault.pointer != NULL);
        REQUIRE(fault.pointer[0] == '\0' || fault.pointer[0] == '/');
        return 0;
    }
    REQUIRE(identifier_is_slug(body.queue));
    if (body.show.n > 0) {
        seats_are_sound(&body);
    } else {
        items_are_sound(&body);
    }
    buffer_init(&text, TEXT_MAX);
    write_reversed(&text, &body);
    REQUIRE(buffer_ok(&text));
    REQUIRE(read_order(arena, buffer_text(&text), &again, &fault));
    REQUIRE(strcmp(body.fingerprint, again.fingerprint) == 0);
    buffer_free(&text);
    return 0;
}
