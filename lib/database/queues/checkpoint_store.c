#include "lib/database/queues/checkpoint_store.h"

enum postgres_outcome checkpoint_store(struct postgres *postgres, struct arena *arena,
                                       struct str queue, int64_t seq)
{
    const PGresult *result;
    const char *parameters[] = {
        arena_copy(arena, queue),
        arena_format(arena, "%lld", (long long)seq),
    };

    return postgres_query(postgres, arena, QUERY_QUEUE_CHECKPOINT, parameters, &result);
}
