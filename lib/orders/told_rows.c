#include "lib/orders/told_rows.h"

#include <string.h>

#include "lib/orders/outbox_store.h"

/* Whether Redis has been another one, or the same one restarted, since a connection ended, nobody can tell. */
static void forget_ended_connection(struct told_rows *told)
{
    if (told->connection != redis_connection(told->redis)) {
        told->connection = redis_connection(told->redis);
        told->count = 0;
        told->lent = 0;
    }
}

void told_rows_add(struct told_rows *told, int64_t row, int64_t now_ms)
{
    forget_ended_connection(told);
    if (row <= 0 || told->count == TOLD_ROWS_MAX) {
        return;
    }
    told->ids[told->count] = row;
    told->at_ms[told->count++] = now_ms;
}

/* How many of the first Redis has had for `age_ms`, as it has shown since. */
static size_t older_than(struct told_rows *told, int64_t age_ms)
{
    size_t old = 0;

    forget_ended_connection(told);
    while (old < told->count && old < TOLD_ROWS_AT_ONCE &&
           redis_answered_ms(told->redis) - told->at_ms[old] >= age_ms) {
        old++;
    }
    return old;
}

const char *told_rows_lend(struct told_rows *told, struct arena *arena)
{
    size_t old = older_than(told, TOLD_ROWS_KEPT_MS);

    if (told->lent > 0 || old < TOLD_ROWS_BATCH) {
        return NULL;
    }
    told->lent = old;
    return outbox_list(arena, told->ids, old);
}

static void drop_first(struct told_rows *told, size_t count)
{
    told->count -= count;
    memmove(told->ids, told->ids + count, told->count * sizeof(*told->ids));
    memmove(told->at_ms, told->at_ms + count, told->count * sizeof(*told->at_ms));
}

void told_rows_settle(struct told_rows *told, bool struck)
{
    if (struck) {
        drop_first(told, told->lent);
    }
    told->lent = 0;
}

void told_rows_flush(struct told_rows *told, struct postgres *postgres, struct arena *arena,
                     int64_t rest_ms)
{
    bool is_time = told->lent == 0 && older_than(told, rest_ms) > 0;
    size_t count = is_time ? older_than(told, TOLD_ROWS_KEPT_MS) : 0;

    if (count > 0 && outbox_done(postgres, arena, told->ids, count) == POSTGRES_OK) {
        drop_first(told, count);
    }
}
