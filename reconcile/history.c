#include "lib/database/service/history_store.h"

#include "lib/base/clock.h"
#include "lib/store/redis.h"
#include "reconcile/reconcile.h"

enum { MINUTE_S = 60 };

static int64_t worse(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Of each past minute after `last`: its last sample, with the worst latencies of the minute. */
static size_t minutes_of(const struct queue_stats *stats, int64_t last,
                         struct queue_sample minutes[HISTORY_MINUTES_MAX])
{
    int64_t running = stats->now_ms / 1000 / MINUTE_S;
    size_t count = 0;

    for (size_t i = 0; i < stats->sample_count; i++) {
        struct queue_sample sample = stats->samples[i];
        int64_t minute = sample.second / MINUTE_S;
        if (minute <= last || minute >= running) {
            continue;
        }
        if (count > 0 && minutes[count - 1].second / MINUTE_S == minute) {
            const struct queue_sample *before = &minutes[count - 1];
            sample.p50_ms = worse(sample.p50_ms, before->p50_ms);
            sample.p95_ms = worse(sample.p95_ms, before->p95_ms);
            sample.p99_ms = worse(sample.p99_ms, before->p99_ms);
            minutes[count - 1] = sample;
        } else if (count < HISTORY_MINUTES_MAX) {
            minutes[count++] = sample;
        }
    }
    return count;
}

static void record_history(struct reconcile *reconcile, const struct queue_row *queue)
{
    struct queue_sample minutes[HISTORY_MINUTES_MAX];
    struct queue_stats stats;
    int64_t last;

    if (history_last(reconcile->postgres, reconcile->arena, queue->id, &last) != POSTGRES_OK) {
        reconcile->report.postgres_silent = true;
        return;
    }
    const redisReply *reply =
        redis_call(reconcile->redis, reconcile->arena,
                   queue_stats_ask(reconcile->arena, queue->id, QUEUE_SERIES_MAX));
    enum outcome outcome = queue_stats_read(reply, reconcile->arena, &stats);
    if (outcome != OUTCOME_OK) {
        reconcile->report.redis_silent |= outcome == OUTCOME_ADMISSION_UNAVAILABLE;
        return;
    }
    size_t count = minutes_of(&stats, last, minutes);
    if (count > 0 && history_put(reconcile->postgres, reconcile->arena, queue->id, minutes,
                                 count) != POSTGRES_OK) {
        reconcile->report.postgres_silent = true;
    }
}

void reconcile_history(struct reconcile *reconcile, const struct queue_row *queues, size_t count)
{
    /* By this host's clock, only to save work: Redis decides which minute is over. */
    int64_t minute = clock_wall_ms() / 1000 / MINUTE_S;

    if (minute == reconcile->history_minute) {
        return;
    }
    for (size_t i = 0;
         i < count && !reconcile->report.redis_silent && !reconcile->report.postgres_silent; i++) {
        record_history(reconcile, &queues[i]);
    }
    if (reconcile->report.redis_silent || reconcile->report.postgres_silent) {
        return;
    }
    if (history_prune(reconcile->postgres, reconcile->arena, reconcile->settings->history_days) !=
        POSTGRES_OK) {
        reconcile->report.postgres_silent = true;
        return;
    }
    reconcile->history_minute = minute;
}
