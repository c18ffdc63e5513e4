#include "lib/database/orders/order_row.h"

#include "lib/database/store_refusal.h"

bool order_row_flag(const PGresult *result, int row, int column)
{
    return str_equal(postgres_text(result, row, column), STR("t"));
}

/* `text` is `sku:quantity:unit price`, separated by spaces. */
static void read_items(struct arena *arena, struct str text, struct order *order)
{
    struct order_item *items = arena_alloc(arena, ORDER_ITEMS_MAX * sizeof(*items));
    struct str line;

    order->items = items;
    order->item_count = 0;
    while (text.n > 0 && order->item_count < ORDER_ITEMS_MAX) {
        struct order_item *item = &items[order->item_count++];
        struct str numbers;
        struct str quantity;
        struct str price;

        (void)str_split(text, ' ', &line, &text);
        (void)str_split(line, ':', &item->sku, &numbers);
        (void)str_split(numbers, ':', &quantity, &price);
        (void)str_to_int64(quantity, 0, INT64_MAX, &item->quantity);
        (void)str_to_int64(price, 0, INT64_MAX, &item->unit_price);
    }
}

/* `text` is lines of `id<TAB>price<TAB>change<TAB>section<TAB>row<TAB>number`. */
static void read_seats(struct arena *arena, struct str text, struct order *order)
{
    struct order_seat *seats =
        text.n == 0 ? NULL : arena_alloc(arena, ORDER_SEATS_MAX * sizeof(*seats));
    struct str line;

    order->seats = seats;
    order->seat_count = 0;
    while (text.n > 0 && order->seat_count < ORDER_SEATS_MAX) {
        struct order_seat *seat = &seats[order->seat_count++];
        struct str price;
        struct str change;

        (void)str_split(text, '\n', &line, &text);
        (void)str_split(line, '\t', &seat->id, &line);
        (void)str_split(line, '\t', &price, &line);
        (void)str_split(line, '\t', &change, &line);
        (void)str_split(line, '\t', &seat->section, &line);
        (void)str_split(line, '\t', &seat->row, &seat->number);
        (void)str_to_int64(price, 0, INT64_MAX, &seat->unit_price);
        (void)str_to_int64(change, 0, INT64_MAX, &seat->change);
    }
}

void order_row_read(struct arena *arena, const PGresult *result, int row, struct order *order)
{
    order->id = postgres_text(result, row, 0);
    order->queue = postgres_text(result, row, 1);
    order->status = postgres_text(result, row, 2);
    order->total = postgres_int(result, row, 3, 0);
    order->currency = postgres_text(result, row, 4);
    order->created_us = postgres_int(result, row, 5, 0);
    order->expires_us = postgres_int(result, row, 6, -1);
    read_items(arena, postgres_text(result, row, 7), order);
    order->place_held = order_row_flag(result, row, 8);
    order->show = postgres_text(result, row, 9);
    read_seats(arena, postgres_text(result, row, 10), order);
    order->payment = postgres_text(result, row, 11);
    order->pay_until_us = postgres_int(result, row, 12, -1);
}

enum order_outcome order_row_refusal(const struct postgres *postgres, enum postgres_outcome outcome,
                                     const char *call)
{
    switch (store_refusal_of(postgres, outcome, call)) {
    case STORE_RETRY:
    case STORE_UNAVAILABLE:
        return ORDER_UNAVAILABLE;
    case STORE_UNKNOWN:
        return ORDER_UNKNOWN;
    case STORE_RULE:
    case STORE_DEFECT:
        break;
    }
    return ORDER_FAILED;
}
