#include "lib/database/outbox/outbox_acks.h"

#include <string.h>

#include "lib/database/outbox/outbox_store.h"
#include "lib/store/postgres_array.h"

/* After a connection has ended nobody can tell whether Redis has failed over or restarted. */
static void forget_ended_connection(struct outbox_acks *acks)
{
    if (acks->connection != redis_connection(acks->redis)) {
        acks->connection = redis_connection(acks->redis);
        acks->count = 0;
        acks->in_flight = 0;
    }
}

void outbox_acks_add(struct outbox_acks *acks, int64_t row, int64_t now_ms)
{
    forget_ended_connection(acks);
    if (row <= 0 || acks->count == OUTBOX_ACKS_MAX) {
        return;
    }
    acks->ids[acks->count] = row;
    acks->at_ms[acks->count++] = now_ms;
}

/* How many of the first rows Redis has had for `age_ms`, according to a later reply. */
static size_t older_than(struct outbox_acks *acks, int64_t age_ms)
{
    size_t old = 0;

    forget_ended_connection(acks);
    while (old < acks->count && old < OUTBOX_ACKS_BATCH_MAX &&
           redis_answered_ms(acks->redis) - acks->at_ms[old] >= age_ms) {
        old++;
    }
    return old;
}

const char *outbox_acks_take(struct outbox_acks *acks, struct arena *arena)
{
    size_t old = older_than(acks, OUTBOX_ACKS_DURABLE_MS);

    if (acks->in_flight > 0 || old < OUTBOX_ACKS_BATCH_MIN) {
        return NULL;
    }
    acks->in_flight = old;
    return postgres_int_array(arena, acks->ids, old);
}

static void drop_first(struct outbox_acks *acks, size_t count)
{
    acks->count -= count;
    memmove(acks->ids, acks->ids + count, acks->count * sizeof(*acks->ids));
    memmove(acks->at_ms, acks->at_ms + count, acks->count * sizeof(*acks->at_ms));
}

void outbox_acks_settle(struct outbox_acks *acks, bool committed)
{
    if (committed) {
        drop_first(acks, acks->in_flight);
    }
    acks->in_flight = 0;
}

void outbox_acks_flush(struct outbox_acks *acks, struct postgres *postgres, struct arena *arena,
                       int64_t rest_ms)
{
    bool is_time = acks->in_flight == 0 && older_than(acks, rest_ms) > 0;
    size_t count = is_time ? older_than(acks, OUTBOX_ACKS_DURABLE_MS) : 0;

    if (count > 0 && outbox_done(postgres, arena, acks->ids, count) == POSTGRES_OK) {
        drop_first(acks, count);
    }
}
