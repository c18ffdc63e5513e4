#include "fcgi-app/pool/batching.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "lib/base/log.h"

void batching_begin(void)
{
    const struct sched_param none = {.sched_priority = 0};

    if (sched_getscheduler(0) != SCHED_OTHER) {
        return;
    }
    if (sched_setscheduler(0, SCHED_BATCH, &none) != 0) {
        log_event(LOG_LEVEL_DEBUG, "worker.not_batching",
                  LOG_FIELDS(LOG_TEXT("why", strerror(errno))));
    }
}
