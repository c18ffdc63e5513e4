#include "lib/database/goods/product_store.h"

#include "lib/database/orders/order_row.h"
#include "lib/database/store_refusal.h"

static void read_product(const PGresult *result, struct product *product)
{
    product->sku = postgres_text(result, 0, 0);
    product->name = postgres_text(result, 0, 1);
    product->price = postgres_int(result, 0, 2, 0);
    product->currency = postgres_text(result, 0, 3);
    product->stock = postgres_int(result, 0, 4, 0);
    product->available = postgres_int(result, 0, 5, 0);
    product->queue = postgres_text(result, 0, 6);
    product->tax_free = order_row_flag(result, 0, 8);
}

static enum product_outcome refused(const struct postgres *postgres, enum postgres_outcome outcome,
                                    const char *call)
{
    switch (store_refusal_of(postgres, outcome, call)) {
    case STORE_RETRY:
    case STORE_UNAVAILABLE:
    case STORE_UNKNOWN:
        return PRODUCT_UNAVAILABLE;
    case STORE_RULE:
    case STORE_DEFECT:
        break;
    }
    return PRODUCT_FAILED;
}

enum product_outcome product_put(struct postgres *postgres, struct arena *arena,
                                 const struct product *product, struct product *stored,
                                 int64_t *sold)
{
    const char *const parameters[] = {
        arena_copy(arena, product->sku),      arena_copy(arena, product->name),
        arena_int(arena, product->price),     arena_copy(arena, product->currency),
        arena_int(arena, product->stock),     arena_copy(arena, product->queue),
        product->tax_free ? "true" : "false",
    };
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_PRODUCT_PUT, parameters, &result);
    if (outcome == POSTGRES_OK) {
        read_product(result, stored);
        return order_row_flag(result, 0, 7) ? PRODUCT_CREATED : PRODUCT_REPLACED;
    }
    if (outcome == POSTGRES_REFUSED && store_refusal_is(postgres, "SL009")) {
        return PRODUCT_QUEUE_GONE;
    }
    if (outcome == POSTGRES_REFUSED && store_refusal_is(postgres, "SL011")) {
        *sold = 0;
        (void)str_to_int64(str_of(postgres_detail(postgres)), 0, PRODUCT_STOCK_MAX, sold);
        return PRODUCT_BELOW_SOLD;
    }
    if (outcome == POSTGRES_REFUSED && store_refusal_is(postgres, "SL012")) {
        return PRODUCT_QUEUE_FIXED;
    }
    return refused(postgres, outcome, "product_put");
}

enum product_outcome product_find(struct postgres *postgres, struct arena *arena, struct str sku,
                                  struct product *product)
{
    const char *const parameters[] = {arena_copy(arena, sku)};
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_PRODUCT_FIND, parameters, &result);
    if (outcome != POSTGRES_OK) {
        return refused(postgres, outcome, "product_find");
    }
    if (PQntuples(result) == 0) {
        return PRODUCT_NONE;
    }
    read_product(result, product);
    return PRODUCT_FOUND;
}
