#include "lib/base/log.h"
#include "lib/database/queues/lottery_store.h"
#include "reconcile/reconcile.h"

void reconcile_lottery(struct reconcile *reconcile, const struct queue_row *queue)
{
    switch (lottery_hold(reconcile->postgres, reconcile->redis, reconcile->arena, queue)) {
    case LOTTERY_NOTHING_DUE:
        break;
    case LOTTERY_HELD:
        reconcile->report.lotteries_drawn++;
        log_event(LOG_LEVEL_INFO, "lottery.drawn", LOG_FIELDS(LOG_STR("queue", queue->id)));
        break;
    case LOTTERY_REDIS_SILENT:
        reconcile->report.redis_silent = true;
        break;
    case LOTTERY_POSTGRES_SILENT:
        reconcile->report.postgres_silent = true;
        break;
    }
}
