#include "lib/orders/told_rows.h"

#include <string.h>

#include "lib/orders/outbox_store.h"

void told_rows_add(struct told_rows *told, int64_t row, int64_t now_ms)
{
    if (row <= 0 || told->count == TOLD_ROWS_MAX) {
        return;
    }
    if (told->count == 0) {
        told->since_ms = now_ms;
    }
    told->ids[told->count++] = row;
}

size_t told_rows_due(const struct told_rows *told)
{
    return told->count < TOLD_ROWS_BATCH ? 0 : told->count;
}

const char *told_rows_list(const struct told_rows *told, struct arena *arena, size_t count)
{
    return count == 0 ? NULL : outbox_list(arena, told->ids, count);
}

void told_rows_struck(struct told_rows *told, size_t count)
{
    told->count -= count;
    memmove(told->ids, told->ids + count, told->count * sizeof(*told->ids));
}

void told_rows_flush(struct told_rows *told, struct postgres *postgres, struct arena *arena,
                     int64_t now_ms)
{
    if (told->count == 0 || now_ms - told->since_ms < TOLD_ROWS_REST_MS) {
        return;
    }
    if (outbox_done(postgres, arena, told->ids, told->count) == POSTGRES_OK) {
        told_rows_struck(told, told->count);
    }
}
