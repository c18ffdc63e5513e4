#include "lib/base/shutdown.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include "lib/base/clock.h"

static bool asked;

static void end_signals(sigset_t *set)
{
    (void)sigemptyset(set);
    (void)sigaddset(set, SIGTERM);
    (void)sigaddset(set, SIGINT);
}

void shutdown_prepare(void)
{
    sigset_t set;
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    end_signals(&set);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0 || sigaction(SIGPIPE, &ignore, NULL) != 0) {
        abort();
    }
}

bool shutdown_wait(int64_t ms)
{
    sigset_t set;
    int64_t until = clock_monotonic_ms() + ms;

    end_signals(&set);
    while (!asked) {
        int64_t left = until - clock_monotonic_ms();
        if (left < 0) {
            left = 0;
        }
        struct timespec time = {.tv_sec = (time_t)(left / 1000),
                                .tv_nsec = (long)(left % 1000) * 1000000};
        if (sigtimedwait(&set, NULL, &time) > 0) {
            asked = true;
        } else if (errno != EINTR) {
            break;
        }
    }
    return asked;
}
