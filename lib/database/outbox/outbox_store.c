#include "lib/database/outbox/outbox_store.h"

#include "lib/store/postgres_array.h"

static enum outbox_kind kind_of(struct str word)
{
    if (str_equal(word, STR("consume"))) {
        return OUTBOX_CONSUME;
    }
    if (str_equal(word, STR("seats"))) {
        return OUTBOX_SEATS;
    }
    if (str_equal(word, STR("concert"))) {
        return OUTBOX_CONCERT;
    }
    return str_equal(word, STR("free_place")) ? OUTBOX_FREE_PLACE : OUTBOX_SOLD_OUT;
}

enum postgres_outcome outbox_take(struct postgres *postgres, struct arena *arena, int64_t limit,
                                  int64_t age_ms, const struct outbox_row **rows, size_t *count)
{
    const char *const parameters[] = {arena_int(arena, limit), arena_int(arena, age_ms)};
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_OUTBOX_TAKE, parameters, &result);
    if (outcome != POSTGRES_OK) {
        return outcome;
    }
    *count = (size_t)PQntuples(result);
    struct outbox_row *taken = arena_alloc(arena, (*count + 1) * sizeof(*taken));
    for (int i = 0; i < PQntuples(result); i++) {
        taken[i].id = postgres_int(result, i, 0, 0);
        taken[i].queue = postgres_text(result, i, 1);
        taken[i].kind = kind_of(postgres_text(result, i, 2));
        taken[i].member = postgres_text(result, i, 3);
        taken[i].order = postgres_text(result, i, 4);
        taken[i].admission = postgres_text(result, i, 5);
        taken[i].key_hash = postgres_text(result, i, 6);
        taken[i].keep_place = str_equal(postgres_text(result, i, 7), STR("t"));
        taken[i].attempts = postgres_int(result, i, 8, 0);
        taken[i].event = postgres_text(result, i, 9);
        taken[i].concert = postgres_text(result, i, 10);
    }
    *rows = taken;
    return POSTGRES_OK;
}

enum postgres_outcome outbox_done(struct postgres *postgres, struct arena *arena,
                                  const int64_t *ids, size_t count)
{
    const char *const parameters[] = {postgres_int_array(arena, ids, count)};
    const PGresult *result;

    return postgres_query(postgres, arena, QUERY_OUTBOX_DONE, parameters, &result);
}
