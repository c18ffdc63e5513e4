#include "lib/admission/queues/queue_stats.h"

#include "lib/store/redis_reply.h"

enum {
    STATS_FIRST_SAMPLE = 38 + 2 * (METRIC_WAIT_BUCKETS + 1),
    CONSUMED_SECONDS = 10,
    SAMPLE_NEEDED = 9
};

struct redis_command *queue_stats_ask(struct arena *arena, struct str queue, int64_t samples)
{
    struct redis_command *command = redis_command_script(arena, SCRIPT_STATS, queue);

    redis_command_add_int(command, samples);
    return command;
}

/* Parses "second,waiting,ready,…"; false for anything else. Later fields may be empty or missing,
 *  and more may follow: another release has written them. */
static bool read_sample(struct str text, struct queue_sample *sample)
{
    int64_t *const numbers[] = {
        &sample->second,           &sample->waiting,        &sample->ready,
        &sample->claimed,          &sample->entered,        &sample->admitted,
        &sample->consumed,         &sample->expired,        &sample->left,
        &sample->withdrawn,        &sample->rate_milli,     &sample->p50_ms,
        &sample->p95_ms,           &sample->p99_ms,         &sample->order_errors,
        &sample->promised_seconds, &sample->actual_seconds,
    };
    struct str number;

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        (void)str_split(text, ',', &number, &text);
        *numbers[i] = -1;
        if (!str_to_int64(number, INT64_MIN, INT64_MAX, numbers[i]) && i < SAMPLE_NEEDED) {
            return false;
        }
    }
    return true;
}

static void read_waits(const redisReply *reply, size_t first, struct metric_waits *waits)
{
    for (size_t i = 0; i < METRIC_WAIT_BUCKETS; i++) {
        waits->buckets[i] = redis_reply_int(reply, first + i, 0);
    }
    waits->sum_ms = redis_reply_int(reply, first + METRIC_WAIT_BUCKETS, 0);
}

enum outcome queue_stats_read(const redisReply *reply, struct arena *arena,
                              struct queue_stats *stats)
{
    enum outcome outcome = outcome_of(reply);

    *stats = (struct queue_stats){0};
    if (outcome != OUTCOME_OK) {
        return outcome == OUTCOME_NOT_FOUND ? outcome : OUTCOME_ADMISSION_UNAVAILABLE;
    }
    int64_t *const numbers[] = {&stats->waiting,  &stats->away,      &stats->ready,
                                &stats->claimed,  &stats->unpaid,    &stats->entered,
                                &stats->admitted, &stats->consumed,  &stats->expired,
                                &stats->left,     &stats->withdrawn, &stats->admitted_milli};
    stats->queue_state = redis_reply_text(reply, 1);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        *numbers[i] = redis_reply_int(reply, i + 2, 0);
    }
    stats->leader = redis_reply_text(reply, 14);
    stats->now_ms = redis_reply_int(reply, 15, 0);
    stats->frozen = redis_reply_int(reply, 16, 0) == 1;
    stats->last_seq = redis_reply_int(reply, 17, 0);
    stats->incarnation = redis_reply_int(reply, 18, 0);
    stats->recovering_until_ms = redis_reply_int(reply, 19, 0);
    stats->in_priority = redis_reply_int(reply, 20, 0);
    stats->in_lottery = redis_reply_int(reply, 21, 0);
    stats->returned = redis_reply_int(reply, 22, 0);
    stats->evicted = redis_reply_int(reply, 23, 0);
    stats->watched_visits = redis_reply_int(reply, 24, 0);
    stats->watched_would_wait = redis_reply_int(reply, 25, 0);
    stats->watched_longest_line = redis_reply_int(reply, 26, 0);
    stats->rate_milli = redis_reply_int(reply, 27, 0);
    stats->order_p50_ms = redis_reply_int(reply, 28, -1);
    stats->order_p95_ms = redis_reply_int(reply, 29, -1);
    stats->order_p99_ms = redis_reply_int(reply, 30, -1);
    stats->origin_p95_ms = redis_reply_int(reply, 31, -1);
    stats->orders_answered = redis_reply_int(reply, 32, 0);
    stats->order_errors = redis_reply_int(reply, 33, 0);
    stats->order_timeouts = redis_reply_int(reply, 34, 0);
    stats->orders_refused = redis_reply_int(reply, 35, 0);
    stats->promised_wait_seconds = redis_reply_int(reply, 36, -1);
    stats->actual_wait_seconds = redis_reply_int(reply, 37, -1);
    read_waits(reply, 38, &stats->late);
    read_waits(reply, 38 + METRIC_WAIT_BUCKETS + 1, &stats->early);
    if (reply->elements > STATS_FIRST_SAMPLE) {
        stats->samples =
            arena_alloc(arena, (reply->elements - STATS_FIRST_SAMPLE) * sizeof(*stats->samples));
    }
    for (size_t i = STATS_FIRST_SAMPLE; i < reply->elements; i++) {
        if (read_sample(redis_reply_text(reply, i), &stats->samples[stats->sample_count])) {
            stats->sample_count++;
        }
    }
    return OUTCOME_OK;
}

int64_t queue_stats_consumed_milli(const struct queue_stats *stats)
{
    int64_t span_ms = 0;
    int64_t consumed = 0;

    for (size_t i = stats->sample_count; i > 0; i--) {
        const struct queue_sample *sample = &stats->samples[i - 1];
        int64_t age_ms = stats->now_ms - sample->second * 1000;
        if (age_ms > CONSUMED_SECONDS * 1000) {
            break;
        }
        span_ms = age_ms;
        consumed = stats->consumed - sample->consumed;
    }
    /* A sample of the current second is too short; after a reset the count starts over. */
    return span_ms < 1000 || consumed < 0 ? 0 : consumed * 1000000 / span_ms;
}
