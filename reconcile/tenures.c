#include "lib/base/log.h"
#include "lib/store/redis_primary.h"
#include "reconcile/reconcile.h"

static void log_restarted(const struct redis_primaries *primaries)
{
    for (size_t i = 0; i < primaries->count; i++) {
        if (!primaries->all[i].is_whole) {
            log_event(LOG_LEVEL_WARNING, "redis.begun_anew",
                      LOG_FIELDS(LOG_STR("server", primaries->all[i].name),
                                 LOG_STR("run", primaries->all[i].run),
                                 LOG_STR("tenure", primaries->all[i].id)));
        }
    }
}

/* Recovers every queue that may have lost its last moments. */
static bool recover_doubtful(struct reconcile *reconcile, const struct redis_primaries *primaries)
{
    struct queue_row *rows;
    size_t count;

    log_restarted(primaries);
    if (queue_store_list(reconcile->postgres, reconcile->arena, false, &rows, &count) !=
        POSTGRES_OK) {
        reconcile->report.postgres_silent = true;
        return false;
    }
    bool is_complete = true;
    for (size_t i = 0;
         i < count && !reconcile->report.redis_silent && !reconcile->report.postgres_silent; i++) {
        if (redis_primaries_doubt(reconcile->redis, primaries, reconcile->arena, rows[i].id)) {
            is_complete = reconcile_recover(reconcile, &rows[i]) && is_complete;
        }
    }
    return is_complete;
}

/* If nothing is known, Redis is empty: queues known to PostgreSQL are found missing. If no tenure
 * has ended, slots have moved to a new primary, which loses nothing. */
static bool may_have_lost(const struct redis_primaries *primaries)
{
    return !primaries->is_current && !primaries->nothing_known && !primaries->none_ended;
}

static bool look(struct reconcile *reconcile, struct redis_primaries *primaries)
{
    bool is_answered = redis_primaries_look(reconcile->redis, reconcile->arena, primaries);

    reconcile->report.redis_silent |= !is_answered;
    return is_answered;
}

static bool record(struct reconcile *reconcile, const struct redis_primaries *primaries)
{
    bool is_current = primaries->is_current ||
                      redis_primaries_write(reconcile->redis, reconcile->arena, primaries);

    reconcile->report.redis_silent |= !is_current;
    return is_current;
}

/* Under the lock of recoveries. Looks again: another reconcile may have recovered them. */
static bool recover_and_record(struct reconcile *reconcile)
{
    struct redis_primaries primaries;

    if (!look(reconcile, &primaries)) {
        return false;
    }
    if (may_have_lost(&primaries) && !recover_doubtful(reconcile, &primaries)) {
        reconcile->report.redis_silent |= !reconcile->report.postgres_silent;
        return false;
    }
    return record(reconcile, &primaries);
}

bool reconcile_tenures(struct reconcile *reconcile)
{
    struct redis_primaries primaries;

    if (!look(reconcile, &primaries)) {
        return false;
    }
    if (!may_have_lost(&primaries)) {
        return record(reconcile, &primaries);
    }
    if (!reconcile_recovery_begin(reconcile)) {
        reconcile->report.redis_silent |= reconcile->report.overtaken;
        return false;
    }
    bool is_current = recover_and_record(reconcile);
    reconcile_recovery_end(reconcile);
    return is_current;
}

bool reconcile_tenures_changed(struct reconcile *reconcile)
{
    struct redis_primaries primaries;

    return redis_primaries_look(reconcile->redis, reconcile->arena, &primaries) &&
           !primaries.is_current;
}
