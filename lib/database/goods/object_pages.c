#include "lib/database/goods/object_pages.h"

static const enum query QUERIES[] = {
    [OBJECT_PRODUCT] = QUERY_PRODUCTS_PAGE,
    [OBJECT_COUPON_EVENT] = QUERY_COUPON_EVENTS_PAGE,
    [OBJECT_CONCERT] = QUERY_CONCERTS_PAGE,
    [OBJECT_SHOW] = QUERY_ALL_SHOWS_PAGE,
};

enum postgres_outcome object_page(struct postgres *postgres, struct arena *arena,
                                  enum object_kind kind, struct str after, int64_t limit,
                                  const struct object_row **rows, size_t *count)
{
    const char *const parameters[] = {arena_copy(arena, after), arena_int(arena, limit)};
    const PGresult *result;
    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERIES[kind], parameters, &result);

    *count = 0;
    if (outcome != POSTGRES_OK) {
        return outcome;
    }
    *count = (size_t)PQntuples(result);
    struct object_row *found = arena_alloc(arena, (*count + 1) * sizeof(*found));
    for (size_t i = 0; i < *count; i++) {
        found[i].id = postgres_text(result, (int)i, 0);
        found[i].json = postgres_text(result, (int)i, 1);
    }
    *rows = found;
    return POSTGRES_OK;
}
