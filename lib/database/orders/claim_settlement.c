#include "lib/database/orders/claim_settlement.h"

enum postgres_outcome claim_settle(struct postgres *postgres, struct arena *arena,
                                   struct str claim_id, struct settlement *settlement)
{
    const char *const parameters[] = {arena_copy(arena, claim_id)};
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_CLAIM_SETTLE, parameters, &result);
    if (outcome == POSTGRES_OK) {
        settlement->committed = str_equal(postgres_text(result, 0, 0), STR("committed"));
        settlement->order = postgres_text(result, 0, 1);
        settlement->queue = postgres_text(result, 0, 2);
        settlement->member = postgres_text(result, 0, 3);
        settlement->admission = postgres_text(result, 0, 4);
        settlement->key_hash = postgres_text(result, 0, 5);
        settlement->keep_place = str_equal(postgres_text(result, 0, 6), STR("t"));
        settlement->event = postgres_text(result, 0, 7);
    }
    return outcome;
}

enum postgres_outcome claims_forget(struct postgres *postgres, struct arena *arena, int64_t days,
                                    int64_t redis_ms, int64_t most, int64_t *count)
{
    const char *const parameters[] = {arena_int(arena, days), arena_int(arena, most),
                                      arena_int(arena, redis_ms)};
    const PGresult *result;
    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_SPENT_FORGET, parameters, &result);

    *count = outcome == POSTGRES_OK ? postgres_int(result, 0, 0, 0) : 0;
    return outcome;
}
