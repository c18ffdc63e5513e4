/*
 * sluice-scheduler — promotes the members of every queue that it leads, at the queue's rate.
 * SIGTERM and SIGINT: hands its queues over and exits.
 */

#include "lib/base/log.h"
#include "lib/base/shutdown.h"
#include "lib/metrics/metrics.h"
#include "lib/settings/program_options.h"
#include "lib/store/confinement.h"
#include "lib/store/postgres_reach.h"
#include "scheduler/scheduler.h"

static const char *const NEEDED[] = {SETTINGS_REDIS, NULL};

int main(int argc, char **argv)
{
    struct settings settings;
    struct program program = {
        .name = "sluice-scheduler",
        .summary = "Promotes waiting members at the global rate; any number of them may run.",
        .required = NEEDED,
        .check = postgres_reach_check,
    };
    int code = program_start(&program, argc, argv, &settings);

    if (code != PROGRAM_GOES_ON) {
        return code;
    }
    shutdown_prepare();
    metrics_start(settings.metrics_file);
    confine(&settings,
            &(struct confinement){.has_postgres = settings.postgres_conninfo[0] != '\0'});
    struct scheduler *scheduler = scheduler_new(&settings);
    log_event(LOG_LEVEL_INFO, "scheduler.started", LOG_NO_FIELDS);
    while (!shutdown_wait(scheduler_step(scheduler))) {
    }
    scheduler_hand_over(scheduler);
    log_event(LOG_LEVEL_INFO, "scheduler.ended", LOG_NO_FIELDS);
    scheduler_free(scheduler);
    settings_free(&settings);
    return PROGRAM_OK;
}
