/*
 * sluice-board — writes each queue's public state into a file, which nginx serves to the whole
 * crowd. SIGTERM and SIGINT: removes the files and exits; nginx then falls back to the queue pool.
 */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "board/board_writer.h"
#include "lib/base/log.h"
#include "lib/base/shutdown.h"
#include "lib/metrics/metrics.h"
#include "lib/settings/program_options.h"
#include "lib/store/confinement.h"

static const char *const NEEDED[] = {SETTINGS_REDIS, "board_directory", NULL};

static bool directory_is_ours(const struct settings *settings, char error[SETTINGS_ERROR])
{
    const char *path = settings->board_directory;
    struct stat found;

    if (stat(path, &found) != 0 || !S_ISDIR(found.st_mode) || access(path, W_OK | X_OK) != 0) {
        (void)snprintf(error, SETTINGS_ERROR,
                       "board_directory %s is not a directory that can be written to", path);
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct settings settings;
    struct program program = {
        .name = "sluice-board",
        .summary = "Writes each queue's public state into a file for nginx; one on each host.",
        .required = NEEDED,
        .check = directory_is_ours,
    };
    int code = program_start(&program, argc, argv, &settings);

    if (code != PROGRAM_GOES_ON) {
        return code;
    }
    shutdown_prepare();
    metrics_start(settings.metrics_file);
    confine(&settings, &(struct confinement){.keeps_board = true});
    struct board_writer *writer = board_writer_new(&settings);
    log_event(LOG_LEVEL_INFO, "board.started",
              LOG_FIELDS(LOG_TEXT("directory", settings.board_directory)));
    while (!shutdown_wait(board_writer_step(writer))) {
    }
    board_writer_clear(writer);
    log_event(LOG_LEVEL_INFO, "board.ended", LOG_NO_FIELDS);
    board_writer_free(writer);
    settings_free(&settings);
    return PROGRAM_OK;
}
