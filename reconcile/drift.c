#include "lib/admission/goods/goods_finding.h"
#include "lib/admission/queues/queue_repair.h"
#include "lib/admission/queues/queue_stats.h"
#include "lib/base/log.h"
#include "lib/database/goods/availability.h"
#include "lib/database/queues/checkpoint_store.h"
#include "lib/database/queues/recovery_store.h"
#include "lib/store/redis_reply.h"
#include "reconcile/reconcile.h"

enum {
    PLACES_PER_CALL = 500,
    CLOCKS_APART_MS = 5000 /* Redis's and PostgreSQL's, at most */
};

/* Nothing has failed: the last coupon event has ended, and this pass is the first to record it. */
static bool came_due(struct reconcile *reconcile, const struct queue_row *queue,
                     const struct queue_stats *stats)
{
    int64_t due = goods_finding_due(reconcile->redis, reconcile->arena, queue->id);

    return due > 0 && due - CLOCKS_APART_MS <= stats->now_ms;
}

/* The row was read when this pass began; the outbox may have changed it since. */
static bool found_meanwhile(struct reconcile *reconcile, const struct queue_row *queue)
{
    struct queue_row now;
    bool found;

    return queue_store_get(reconcile->postgres, reconcile->arena, queue->id, &found, &now) ==
               POSTGRES_OK &&
           found && now.sold_out != queue->sold_out;
}

/* Redis's flag should be PostgreSQL's finding; if they differ, PostgreSQL is checked again. */
static void compare_sold_out(struct reconcile *reconcile, const struct queue_row *queue,
                             const struct queue_stats *stats)
{
    bool by_operator = str_equal(str_of(queue->operator_state), STR("SOLD_OUT"));
    bool in_redis = str_equal(stats->queue_state, STR("SOLD_OUT"));
    bool closed = str_equal(stats->queue_state, STR("CLOSED"));

    if (by_operator || closed || in_redis == queue->sold_out || found_meanwhile(reconcile, queue)) {
        return;
    }
    log_event(in_redis && came_due(reconcile, queue, stats) ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING,
              "queue.sold_out_drift",
              LOG_FIELDS(LOG_STR("queue", queue->id), LOG_INT("redis", in_redis),
                         LOG_INT("postgres", queue->sold_out)));
    (void)availability_publish(reconcile->postgres, reconcile->redis, reconcile->arena, queue->id,
                               false);
}

/* The last finding is older than the rows: a worker died between its commit and its finding, two
 * transactions that took the last of something saw each other's as left, or a coupon event has
 * ended. */
static void compare_goods(struct reconcile *reconcile, const struct queue_row *queue,
                          const struct queue_stats *stats)
{
    if (!availability_drifted(reconcile->postgres, reconcile->arena, queue->id)) {
        return;
    }
    log_event(came_due(reconcile, queue, stats) ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING,
              "queue.goods_drift",
              LOG_FIELDS(LOG_STR("queue", queue->id), LOG_INT("soldOut", queue->sold_out)));
    (void)availability_publish(reconcile->postgres, reconcile->redis, reconcile->arena, queue->id,
                               false);
}

/* See lua/include/unpaid.lua: the field is member, or member/order; its value its orders, of which the first is the
 * field's. */
static struct held_place place_of(struct str field, struct str orders)
{
    struct held_place place = {.member = field, .order = orders};
    struct str others;

    (void)str_split(field, '/', &place.member, &others);
    (void)str_split(orders, ' ', &place.order, &others);
    return place;
}

/*
 * A place that Redis keeps for an order that no longer holds one would be lost for ever. Redis is
 * read first: an order whose place is there had committed by then, so PostgreSQL, queried later,
 * decides.
 */
static void compare_unpaid(struct reconcile *reconcile, const struct queue_row *queue)
{
    const redisReply *reply = unpaid_places_read(reconcile->redis, reconcile->arena, queue->id);

    for (size_t at = 0; reply != NULL && at + 1 < reply->elements;) {
        struct held_place places[PLACES_PER_CALL];
        bool held[PLACES_PER_CALL];
        size_t count = 0;
        for (; count < PLACES_PER_CALL && at + 1 < reply->elements; count++, at += 2) {
            places[count] = place_of(redis_reply_text(reply, at), redis_reply_text(reply, at + 1));
        }
        if (recovery_orders_hold_places(reconcile->postgres, reconcile->arena, places, count,
                                        held) != POSTGRES_OK) {
            reconcile->report.postgres_silent = true;
            return;
        }
        for (size_t i = 0; i < count; i++) {
            if (!held[i] && place_free(reconcile->redis, reconcile->arena, queue->id,
                                       places[i].member, places[i].order) == OUTCOME_FREED) {
                reconcile->report.places_freed++;
                log_event(
                    LOG_LEVEL_WARNING, "queue.unpaid_drift",
                    LOG_FIELDS(LOG_STR("queue", queue->id), LOG_STR("order", places[i].order)));
            }
        }
    }
}

void reconcile_drift(struct reconcile *reconcile, const struct queue_row *queue)
{
    struct queue_stats stats;
    int64_t mended = 0;
    const redisReply *reply = redis_call(reconcile->redis, reconcile->arena,
                                         queue_stats_ask(reconcile->arena, queue->id, 0));
    enum outcome outcome = queue_stats_read(reply, reconcile->arena, &stats);

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
    compare_goods(reconcile, queue, &stats);
    if (stats.unpaid > 0) {
        compare_unpaid(reconcile, queue);
    }
    outcome = places_mend(reconcile->redis, reconcile->arena, queue->id, &mended);
    reconcile->report.redis_silent |= outcome == OUTCOME_ADMISSION_UNAVAILABLE;
    if (mended > 0) {
        reconcile->report.places_mended += mended;
        log_event(LOG_LEVEL_WARNING, "queue.places_mended",
                  LOG_FIELDS(LOG_STR("queue", queue->id), LOG_INT("members", mended)));
    }
}
