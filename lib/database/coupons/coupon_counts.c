#include "lib/database/coupons/coupon_counts.h"

#include "lib/store/postgres_array.h"

enum postgres_outcome coupon_counts(struct postgres *postgres, struct arena *arena,
                                    struct str queue, const struct coupon_count **counts,
                                    size_t *count)
{
    const char *const parameters[] = {arena_copy(arena, queue)};
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_COUPON_COUNTS, parameters, &result);
    if (outcome != POSTGRES_OK) {
        return outcome;
    }
    *count = (size_t)PQntuples(result);
    struct coupon_count *found = arena_alloc(arena, (*count + 1) * sizeof(*found));
    for (int i = 0; i < PQntuples(result); i++) {
        found[i].event = postgres_text(result, i, 0);
        found[i].record = postgres_text(result, i, 1);
        found[i].issued = postgres_int(result, i, 2, 0);
        found[i].unpublished = postgres_int(result, i, 3, 0);
    }
    *counts = found;
    return POSTGRES_OK;
}

enum postgres_outcome coupon_owners_of(struct postgres *postgres, struct arena *arena,
                                       struct str event, const struct str *members, size_t count,
                                       bool *owns)
{
    const char *const parameters[] = {arena_copy(arena, event),
                                      postgres_text_array(arena, members, count)};
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_COUPON_OWNERS_OF, parameters, &result);
    for (size_t i = 0; i < count; i++) {
        owns[i] = false;
    }
    for (int i = 0; outcome == POSTGRES_OK && i < PQntuples(result); i++) {
        int64_t at = postgres_int(result, i, 0, -1);
        if (at >= 0 && at < (int64_t)count) {
            owns[at] = true;
        }
    }
    return outcome;
}
