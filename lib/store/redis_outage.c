#include "lib/store/redis_outage.h"

#include "lib/base/log.h"

void redis_outage_note(const struct redis *redis, bool *answered, bool answers)
{
    if (answers == *answered) {
        return;
    }
    *answered = answers;
    if (answers) {
        log_event(LOG_LEVEL_INFO, "redis.back", LOG_NO_FIELDS);
    } else {
        log_event(LOG_LEVEL_WARNING, "redis.unreachable",
                  LOG_FIELDS(LOG_TEXT("error", redis_error(redis))));
    }
}
