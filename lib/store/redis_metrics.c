#include "lib/store/redis_metrics.h"

#include "lib/base/clock.h"
#include "lib/store/redis_reply.h"

void redis_metrics_count(const redisReply *reply, enum metric_histogram client, int64_t sent_us)
{
    if (reply == NULL) {
        metrics_add(METRIC_REDIS_UNANSWERED, 1);
        return;
    }
    /* After NOSCRIPT the script is sent with its text. */
    bool refused = reply->type == REDIS_REPLY_ERROR && !redis_reply_is_noscript(reply);
    metrics_add(refused ? METRIC_REDIS_REFUSED : METRIC_REDIS_ANSWERED, 1);
    metrics_observe_us(client, clock_monotonic_us() - sent_us);
}
