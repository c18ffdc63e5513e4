#include "lib/admission/queue_publication.h"
#include "lib/admission/upkeep.h"
#include "lib/base/log.h"
#include "lib/orders/availability.h"
#include "lib/orders/checkpoint_store.h"
#include "reconcile/reconcile.h"

/* Redis's flag is PostgreSQL's finding; where they differ, PostgreSQL is looked at anew. */
static void compare_sold_out(struct reconcile *reconcile, const struct queue_row *queue,
                             const struct queue_stats *stats)
{
    bool by_operator = str_equal(str_of(queue->operator_state), STR("SOLD_OUT"));
    bool in_redis = str_equal(stats->queue_state, STR("SOLD_OUT"));
    bool closed = str_equal(stats->queue_state, STR("CLOSED"));

    if (by_operator || closed || in_redis == queue->sold_out) {
        return;
    }
    log_event(LOG_LEVEL_WARNING, "queue.sold_out_drift",
              LOG_FIELDS(LOG_STR("queue", queue->id), LOG_INT("redis", in_redis),
                         LOG_INT("postgres", queue->sold_out)));
    (void)availability_publish(reconcile->postgres, reconcile->redis, reconcile->arena, queue->id,
                               false);
}

void reconcile_drift(struct reconcile *reconcile, const struct queue_row *queue)
{
    struct queue_stats stats;
    int64_t mended = 0;
    const redisReply *reply = redis_call(reconcile->redis, reconcile->arena,
                                         queue_publication_stats(reconcile->arena, queue->id, 0));
    enum outcome outcome = queue_publication_read_stats(reply, reconcile->arena, &stats);

    if (outcome != OUTCOME_OK) {
        reconcile->report.redis_silent |= outcome == OUTCOME_ADMISSION_UNAVAILABLE;
        return;
    }
    if (stats.last_seq > queue->seq_checkpoint &&
        checkpoint_store(reconcile->postgres, reconcile->arena, queue->id, stats.last_seq) !=
            POSTGRES_OK) {
        reconcile->report.postgres_silent = true;
        return;
    }
    compare_sold_out(reconcile, queue, &stats);
    outcome = places_mend(reconcile->redis, reconcile->arena, queue->id, &mended);
    reconcile->report.redis_silent |= outcome == OUTCOME_ADMISSION_UNAVAILABLE;
    if (mended > 0) {
        reconcile->report.places_mended += mended;
        log_event(LOG_LEVEL_WARNING, "queue.places_mended",
                  LOG_FIELDS(LOG_STR("queue", queue->id), LOG_INT("members", mended)));
    }
}
