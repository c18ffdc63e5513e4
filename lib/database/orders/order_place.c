#include <string.h>

#include "lib/database/orders/order_row.h"
#include "lib/database/store_call.h"
#include "lib/store/postgres_array.h"

static const struct {
    const char *sqlstate;
    enum order_outcome outcome;
} RULES[] = {
    {"SL001", ORDER_INCARNATION},       {"SL002", ORDER_KEY_REUSED},
    {"SL003", ORDER_CLAIM_RELEASED},    {"SL004", ORDER_ADMISSION_SPENT},
    {"SL005", ORDER_OUT_OF_STOCK},      {"SL006", ORDER_UNKNOWN_SKU},
    {"SL007", ORDER_CURRENCIES_DIFFER}, {"SL008", ORDER_TOTAL_TOO_LARGE},
    {"SL009", ORDER_QUEUE_GONE},        {"SL013", ORDER_EPOCH},
    {"SL017", ORDER_SEATS_TAKEN},       {"SL018", ORDER_UNKNOWN_SEAT},
    {"SL019", ORDER_TOO_MANY_SEATS},
};

static const char *sku_array(struct arena *arena, const struct order_request *request)
{
    struct str skus[ORDER_ITEMS_MAX];

    for (size_t i = 0; i < request->item_count; i++) {
        skus[i] = request->items[i].sku;
    }
    return postgres_text_array(arena, skus, request->item_count);
}

static const char *quantity_array(struct arena *arena, const struct order_request *request)
{
    int64_t quantities[ORDER_ITEMS_MAX];

    for (size_t i = 0; i < request->item_count; i++) {
        quantities[i] = request->items[i].quantity;
    }
    return postgres_int_array(arena, quantities, request->item_count);
}

/* NULL if no seats are ordered. */
static const char *seat_array(struct arena *arena, const struct order_request *request)
{
    return request->show.n == 0 ? NULL
                                : postgres_text_array(arena, request->seats, request->seat_count);
}

/* DETAIL has the ids, separated by spaces. */
static void read_seats(struct arena *arena, struct str detail, struct order_placement *placement)
{
    struct str *seats = arena_alloc(arena, ORDER_SEATS_MAX * sizeof(*seats));

    placement->seats = seats;
    while (detail.n > 0 && placement->seat_count < ORDER_SEATS_MAX) {
        (void)str_split(detail, ' ', &seats[placement->seat_count++], &detail);
    }
}

/* Reads the DETAIL of a refusal; returns the outcome. */
static enum order_outcome read_detail(struct arena *arena, enum order_outcome outcome,
                                      struct str detail, struct order_placement *placement)
{
    struct str has;
    struct str may;

    switch (outcome) {
    case ORDER_ADMISSION_SPENT:
        store_spender_read(detail, &placement->spent);
        return outcome;
    case ORDER_TOO_MANY_SEATS:
        (void)str_split(detail, '/', &has, &may);
        (void)str_to_int64(may, 0, INT64_MAX, &placement->most_seats);
        return outcome;
    case ORDER_UNKNOWN_SEAT:
    case ORDER_SEATS_TAKEN:
        read_seats(arena, detail, placement);
        return outcome == ORDER_UNKNOWN_SEAT && detail.n == 0 ? ORDER_SHOW_GONE : outcome;
    default:
        placement->sku = detail;
        return outcome;
    }
}

static enum order_outcome read_refusal(const struct postgres *postgres, struct arena *arena,
                                       struct order_placement *placement)
{
    struct str detail = str_of(arena_copy(arena, str_of(postgres_detail(postgres))));

    for (size_t i = 0; i < sizeof(RULES) / sizeof(*RULES); i++) {
        if (store_refusal_is(postgres, RULES[i].sqlstate)) {
            return read_detail(arena, RULES[i].outcome, detail, placement);
        }
    }
    return ORDER_FAILED;
}

static void read_placed(struct arena *arena, const PGresult *result,
                        struct order_placement *placement)
{
    order_row_read(arena, result, 0, &placement->order);
    placement->admission = postgres_text(result, 0, ORDER_COLUMNS + 1);
    placement->took_last = order_row_flag(result, 0, ORDER_COLUMNS + 2);
    placement->outbox_row = postgres_int(result, 0, ORDER_COLUMNS + 3, 0);
}

/* The parameters of order_place.sql, in order. */
enum { PARAMETERS = 18, OUTBOX_ACKS = PARAMETERS - 1 };

void order_place_prepare(struct arena *arena, const struct claim *claim,
                         const struct order_request *request, struct outbox_acks *acks,
                         struct postgres_call *call)
{
    char id[RANDOM_ID_TEXT + 1];

    random_id(id);
    const char *const parameters[PARAMETERS] = {
        arena_copy(arena, claim->queue),
        arena_int(arena, claim->incarnation),
        arena_int(arena, claim->epoch),
        arena_int(arena, claim->seq),
        arena_copy(arena, claim->member),
        arena_copy(arena, request->key),
        claim->key_hash,
        arena_copy(arena, request->fingerprint),
        claim->id,
        claim->admission,
        arena_format(arena, "o_%s", id),
        sku_array(arena, request),
        quantity_array(arena, request),
        arena_int(arena, request->ttl_seconds),
        claim->place_until_payment ? "t" : "f",
        request->show.n == 0 ? NULL : arena_copy(arena, request->show),
        seat_array(arena, request),
        [OUTBOX_ACKS] = outbox_acks_take(acks, arena),
    };
    const char **kept = arena_alloc(arena, sizeof(parameters));
    memcpy(kept, parameters, sizeof(parameters));
    *call = (struct postgres_call){.query = QUERY_ORDER_PLACE, .parameters = kept};
}

static enum order_outcome read_end(struct postgres *postgres, struct arena *arena,
                                   struct postgres_call *call, struct order_placement *placement)
{
    const PGresult *rows;
    enum store_refusal refusal;

    if (store_call_read(postgres, arena, call, "order_place", &rows, &refusal)) {
        read_placed(arena, rows, placement);
        return order_row_flag(rows, 0, ORDER_COLUMNS) ? ORDER_REPLAYED : ORDER_PLACED;
    }
    switch (refusal) {
    case STORE_RULE:
        return read_refusal(postgres, arena, placement);
    case STORE_RETRY:
    case STORE_UNAVAILABLE:
        return ORDER_UNAVAILABLE;
    case STORE_UNKNOWN:
        return ORDER_UNKNOWN;
    case STORE_DEFECT:
        return ORDER_FAILED;
    }
    return ORDER_FAILED;
}

enum order_outcome order_place_read(struct postgres *postgres, struct arena *arena,
                                    struct postgres_call *call, struct outbox_acks *acks,
                                    struct order_placement *placement)
{
    *placement = (struct order_placement){0};
    enum order_outcome outcome = read_end(postgres, arena, call, placement);
    if (call->parameters[OUTBOX_ACKS] != NULL) {
        outbox_acks_settle(acks, outcome == ORDER_PLACED);
    }
    return outcome;
}
