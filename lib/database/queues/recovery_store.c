#include "lib/database/queues/recovery_store.h"

#include "lib/store/postgres_array.h"

enum postgres_outcome recovery_lock(struct postgres *postgres, struct arena *arena,
                                    int64_t pause_ms, bool *is_locked)
{
    const char *const parameters[] = {arena_int(arena, pause_ms)};
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_RECOVERY_LOCK, parameters, &result);
    *is_locked = outcome == POSTGRES_OK && PQgetvalue(result, 0, 0)[0] == 't';
    return outcome;
}

enum postgres_outcome recovery_unlock(struct postgres *postgres, struct arena *arena,
                                      bool *was_locked)
{
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_RECOVERY_UNLOCK, NULL, &result);
    *was_locked = outcome == POSTGRES_OK && PQgetvalue(result, 0, 0)[0] == 't';
    return outcome;
}

enum postgres_outcome recovery_raise_incarnation(struct postgres *postgres, struct arena *arena,
                                                 struct str queue, int64_t expected, int64_t known,
                                                 int64_t *incarnation)
{
    const char *const parameters[] = {arena_copy(arena, queue), arena_int(arena, expected),
                                      arena_int(arena, known)};
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_INCARNATION_RAISE, parameters, &result);
    if (outcome == POSTGRES_OK) {
        *incarnation = postgres_int(result, 0, 0, 0);
    }
    return outcome;
}

enum postgres_outcome recovery_spent_numbers(struct postgres *postgres, struct arena *arena,
                                             struct str queue, int64_t epoch, int64_t after,
                                             int64_t limit, const int64_t **numbers, size_t *count)
{
    const char *const parameters[] = {
        arena_copy(arena, queue),
        arena_int(arena, epoch),
        arena_int(arena, after),
        arena_int(arena, limit),
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

enum postgres_outcome recovery_held_places(struct postgres *postgres, struct arena *arena,
                                           struct str queue, const struct held_place *after,
                                           int64_t limit, const struct held_place **places,
                                           size_t *count)
{
    const char *const parameters[] = {
        arena_copy(arena, queue),
        arena_copy(arena, after->member),
        arena_copy(arena, after->order),
        arena_int(arena, limit),
    };
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_HELD_PLACES, parameters, &result);
    if (outcome != POSTGRES_OK) {
        return outcome;
    }
    *count = (size_t)PQntuples(result);
    struct held_place *found = arena_alloc(arena, (*count + 1) * sizeof(*found));
    for (int i = 0; i < PQntuples(result); i++) {
        found[i].member = postgres_text(result, i, 0);
        found[i].order = postgres_text(result, i, 1);
    }
    *places = found;
    return POSTGRES_OK;
}

static const char *order_array(struct arena *arena, const struct held_place *places, size_t count)
{
    struct str *orders = arena_alloc(arena, (count + 1) * sizeof(*orders));

    for (size_t i = 0; i < count; i++) {
        orders[i] = places[i].order;
    }
    return postgres_text_array(arena, orders, count);
}

enum postgres_outcome recovery_orders_hold_places(struct postgres *postgres, struct arena *arena,
                                                  const struct held_place *places, size_t count,
                                                  bool *held)
{
    const char *const parameters[] = {order_array(arena, places, count)};
    const PGresult *result;

    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_HELD_ORDERS, parameters, &result);
    for (size_t i = 0; i < count && outcome == POSTGRES_OK; i++) {
        held[i] = false;
        for (int row = 0; row < PQntuples(result) && !held[i]; row++) {
            held[i] = str_equal(places[i].order, postgres_text(result, row, 0));
        }
    }
    return outcome;
}
