#include "lib/orders/recovery_store.h"

#include <inttypes.h>

enum postgres_outcome incarnation_raise(struct postgres *postgres, struct arena *arena,
                                        struct str queue, int64_t expected, int64_t *incarnation)
{
    const char *const parameters[] = {arena_copy(arena, queue),
                                      arena_format(arena, "%" PRId64, expected)};
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_INCARNATION_RAISE, parameters, &result);
    if (outcome == POSTGRES_OK) {
        *incarnation = postgres_int(result, 0, 0, 0);
    }
    return outcome;
}

enum postgres_outcome spent_numbers(struct postgres *postgres, struct arena *arena,
                                    struct str queue, int64_t epoch, int64_t after, int64_t limit,
                                    const int64_t **numbers, size_t *count)
{
    const char *const parameters[] = {
        arena_copy(arena, queue),
        arena_format(arena, "%" PRId64, epoch),
        arena_format(arena, "%" PRId64, after),
        arena_format(arena, "%" PRId64, limit),
    };
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_SPENT_NUMBERS, parameters, &result);
    if (outcome != POSTGRES_OK) {
        return outcome;
    }
    *count = (size_t)PQntuples(result);
    int64_t *found = arena_alloc(arena, (*count + 1) * sizeof(*found));
    for (int i = 0; i < PQntuples(result); i++) {
        found[i] = postgres_int(result, i, 0, 0);
    }
    *numbers = found;
    return POSTGRES_OK;
}
