#include "lib/base/log.h"
#include "lib/database/orders/order_store.h"
#include "reconcile/reconcile.h"

enum { ORDERS_PER_BATCH = 200, BATCHES_PER_PASS = 20 };

void reconcile_orders(struct reconcile *reconcile)
{
    for (int batch = 0; batch < BATCHES_PER_PASS; batch++) {
        const struct expired_order *expired;
        size_t count;
        if (orders_expire(reconcile->postgres, reconcile->arena, ORDERS_PER_BATCH, &expired,
                          &count) != ORDER_FOUND) {
            reconcile->report.postgres_silent = true;
            return;
        }
        for (size_t i = 0; i < count; i++) {
            log_event(
                LOG_LEVEL_INFO, "order.expired",
                LOG_FIELDS(LOG_STR("order", expired[i].id), LOG_STR("queue", expired[i].queue)));
        }
        reconcile->report.orders_expired += (int64_t)count;
        if (count < ORDERS_PER_BATCH) {
            return;
        }
    }
}
