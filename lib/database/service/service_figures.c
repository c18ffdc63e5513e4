#include "lib/database/service/service_figures.h"

#include "lib/database/orders/order_row.h"

enum postgres_outcome service_figures_read(struct postgres *postgres, struct arena *arena,
                                           struct service_figures *figures)
{
    const PGresult *result = NULL;
    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_SERVICE_FIGURES, NULL, &result);

    *figures = (struct service_figures){.outbox_oldest_ms = -1, .reconciled_ago_ms = -1};
    if (outcome == POSTGRES_OK) {
        figures->now_ms = postgres_int(result, 0, 0, 0);
        figures->is_standby = order_row_flag(result, 0, 1);
        figures->payments_stuck = postgres_int(result, 0, 2, 0);
        figures->outbox_rows = postgres_int(result, 0, 3, 0);
        figures->outbox_oldest_ms = postgres_int(result, 0, 4, -1);
        figures->reconciled_ago_ms = postgres_int(result, 0, 5, -1);
    }
    return outcome;
}

enum postgres_outcome goods_list(struct postgres *postgres, struct arena *arena, struct str queue,
                                 struct goods_row **rows, size_t *count)
{
    const char *const parameters[] = {arena_copy(arena, queue),
                                      arena_format(arena, "%d", GOODS_MAX)};
    const PGresult *result = NULL;
    enum postgres_outcome outcome =
        postgres_query(postgres, arena, QUERY_GOODS_LIST, parameters, &result);

    *count = 0;
    if (outcome != POSTGRES_OK) {
        return outcome;
    }
    *rows = arena_alloc(arena, ((size_t)PQntuples(result) + 1) * sizeof(**rows));
    for (int i = 0; i < PQntuples(result); i++) {
        (*rows)[i] = (struct goods_row){
            .kind = postgres_text(result, i, 0),
            .id = postgres_text(result, i, 1),
            .name = postgres_text(result, i, 2),
            .total = postgres_int(result, i, 3, 0),
            .left = postgres_int(result, i, 4, 0),
            .costs = order_row_flag(result, i, 5),
        };
    }
    *count = (size_t)PQntuples(result);
    return outcome;
}
