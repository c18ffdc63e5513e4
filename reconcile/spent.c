#include "lib/database/orders/claim_settlement.h"
#include "lib/store/redis_time.h"
#include "reconcile/reconcile.h"

enum { CLAIMS_PER_BATCH = 500, BATCHES_PER_PASS = 10 };

/* A claim that still exists in Redis is settled by the very row that would be deleted. So only a
 * pass that reached both stores, and found none to settle, deletes any. */
static bool is_settled(const struct reconcile_report *report)
{
    return report->claims_released == 0 && report->claims_consumed == 0 &&
           report->claims_open == 0 && report->outbox_stuck == 0 && !report->redis_silent &&
           !report->postgres_silent;
}

void reconcile_spent(struct reconcile *reconcile)
{
    int64_t count = CLAIMS_PER_BATCH;
    int64_t days = reconcile->settings->spent_days;
    int64_t redis_ms;

    if (days == 0 || !is_settled(&reconcile->report) ||
        !redis_time(reconcile->redis, reconcile->arena, &redis_ms)) {
        return;
    }
    for (int batch = 0; batch < BATCHES_PER_PASS && count == CLAIMS_PER_BATCH; batch++) {
        enum postgres_outcome outcome = claims_forget(reconcile->postgres, reconcile->arena, days,
                                                      redis_ms, CLAIMS_PER_BATCH, &count);
        reconcile->report.postgres_silent |= outcome != POSTGRES_OK && outcome != POSTGRES_REFUSED;
        reconcile->report.claims_forgotten += count;
    }
}
