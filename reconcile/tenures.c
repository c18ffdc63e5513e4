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
    for (size_t i = 0; i < count; i++) {
        if (redis_primaries_doubt(reconcile->redis, primaries, reconcile->arena, rows[i].id) &&
            !reconcile_recover(reconcile, &rows[i])) {
            return false;
        }
    }
    return true;
}

bool reconcile_tenures(struct reconcile *reconcile)
{
    struct redis_primaries primaries;

    if (!redis_primaries_look(reconcile->redis, reconcile->arena, &primaries)) {
        reconcile->report.redis_silent = true;
        return false;
    }
    if (primaries.is_current) {
        return true;
    }
    /* If nothing is known, Redis is empty: queues known to PostgreSQL are found missing. If no
     * tenure has ended, slots have moved to a new primary, which loses nothing. */
    if (!primaries.nothing_known && !primaries.none_ended &&
        !recover_doubtful(reconcile, &primaries)) {
        reconcile->report.redis_silent |= !reconcile->report.postgres_silent;
        return false;
    }
    if (!redis_primaries_write(reconcile->redis, reconcile->arena, &primaries)) {
        reconcile->report.redis_silent = true;
        return false;
    }
    return true;
}

bool reconcile_tenures_changed(struct reconcile *reconcile)
{
    struct redis_primaries primaries;

    return redis_primaries_look(reconcile->redis, reconcile->arena, &primaries) &&
           !primaries.is_current;
}
