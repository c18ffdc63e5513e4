#include "lib/base/log.h"
#include "lib/catalog/catalog.h"
#include "lib/catalog/entry.h"
#include "lib/catalog/l2.h"
#include "lib/metrics/metrics.h"

static bool invalidate(struct redis *redis, struct arena *arena, enum catalog_kind kind,
                       struct str id)
{
    struct catalog_key key;

    if (!catalog_key_make(kind, id, &key)) {
        return true;
    }
    bool taken = l2_outdate(redis, arena, &key);
    metrics_add(taken ? METRIC_CATALOG_INVALIDATIONS : METRIC_CATALOG_INVALIDATIONS_LOST, 1);
    if (!taken) {
        log_event(LOG_LEVEL_WARNING, "catalog.invalidation_lost",
                  LOG_FIELDS(LOG_TEXT("object", key.text), LOG_TEXT("why", redis_error(redis))));
    }
    return taken;
}

bool catalog_concert_changed(struct redis *redis, struct arena *arena, struct str concert)
{
    bool itself = invalidate(redis, arena, CATALOG_CONCERT, concert);

    return invalidate(redis, arena, CATALOG_CONCERTS, str_sized(NULL, 0)) && itself;
}

bool catalog_show_changed(struct redis *redis, struct arena *arena, struct str show,
                          struct str concert)
{
    bool itself = invalidate(redis, arena, CATALOG_SHOW, show);
    bool plan = invalidate(redis, arena, CATALOG_SEAT_PLAN, show);

    return catalog_concert_changed(redis, arena, concert) && itself && plan;
}
