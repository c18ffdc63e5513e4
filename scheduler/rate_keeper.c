#include "scheduler/rate_keeper.h"

#include <math.h>

#include "lib/admission/autopilot/autopilot_store.h"
#include "lib/base/log.h"
#include "lib/metrics/metrics.h"

static void log_move(struct str queue, const struct autopilot_sight *sight,
                     const struct autopilot_verdict *verdict)
{
    double p95 = load_view_quantile(&sight->memory.order_view, 0.95);

    log_event(LOG_LEVEL_INFO, "autopilot.moved",
              LOG_FIELDS(LOG_STR("queue", queue),
                         LOG_TEXT("reason", autopilot_word(verdict->reason)),
                         LOG_INT("fromMilli", llround(verdict->before * 1000)),
                         LOG_INT("toMilli", llround(verdict->rate * 1000)),
                         LOG_INT("orderP95Ms", llround(p95)),
                         LOG_INT("droppedPerMille", llround(verdict->dropped * 1000)),
                         LOG_INT("waiting", sight->look.waiting)));
}

/* Without the autopilot and without recent orders there is nothing to record. */
static bool is_quiet(const struct autopilot_sight *sight, const struct autopilot_sight *before)
{
    return !sight->enabled && !before->look.moved &&
           (!sight->any_load ||
            (load_view_weight(&sight->memory.order_view) < 1 &&
             load_view_weight(&sight->memory.origin_view) < 1 &&
             load_view_weight(&before->memory.order_view) < 1 &&
             load_view_weight(&before->memory.origin_view) < 1 && before->memory.at_ms > 0));
}

void rate_keeper_look(struct redis *redis, struct arena *arena, struct str queue, struct str owner)
{
    struct autopilot_sight sight;
    struct autopilot_verdict verdict;

    if (autopilot_look_at(redis, arena, queue, &sight) != OUTCOME_OK) {
        return;
    }
    const struct autopilot_sight before = sight;
    autopilot_step(sight.enabled ? &sight.goal : NULL, &sight.look, &sight.memory, &verdict);
    if (is_quiet(&sight, &before)) {
        return;
    }
    if (autopilot_note(redis, arena, queue, owner, &sight, &verdict) == OUTCOME_NOTED &&
        verdict.moved) {
        metrics_add(verdict.rate > verdict.before ? METRIC_AUTOPILOT_UP : METRIC_AUTOPILOT_DOWN, 1);
        log_move(queue, &sight, &verdict);
    }
}
