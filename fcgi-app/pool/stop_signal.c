#include "fcgi-app/pool/stop_signal.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

/* multiwatch 1.0.0 sends SIGQUIT when it is asked to send SIGTERM. */
static const int STOPS[] = {SIGTERM, SIGINT, SIGQUIT};

enum {
    STOP_COUNT = sizeof(STOPS) / sizeof(STOPS[0]),
    LOOK_MS = 20 /* a poll costs two system calls */
};

static volatile sig_atomic_t came;

static void on_stop(int number)
{
    (void)number;
    if (came != 0) {
        _exit(0);
    }
    came = 1;
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};

    (void)sigemptyset(&action.sa_mask);
    if (sigaction(number, &action, NULL) != 0) {
        abort();
    }
}

void stop_signal_install(sigset_t *open_mask)
{
    sigset_t stop;

    (void)sigemptyset(&stop);
    for (int i = 0; i < STOP_COUNT; i++) {
        (void)sigaddset(&stop, STOPS[i]);
    }
    if (sigprocmask(SIG_BLOCK, &stop, open_mask) != 0) {
        abort();
    }
    for (int i = 0; i < STOP_COUNT; i++) {
        (void)sigdelset(open_mask, STOPS[i]);
        handle(STOPS[i], on_stop);
    }
    handle(SIGHUP, SIG_IGN);
    handle(SIGPIPE, SIG_IGN);
}

void stop_signal_look(const sigset_t *open_mask, int64_t now_ms)
{
    static int64_t looked_ms;
    sigset_t closed;

    if (now_ms - looked_ms < LOOK_MS) {
        return;
    }
    looked_ms = now_ms;
    if (sigprocmask(SIG_SETMASK, open_mask, &closed) == 0) {
        (void)sigprocmask(SIG_SETMASK, &closed, NULL);
    }
}

void stop_signal_wait(int64_t ms)
{
    const struct timespec time = {.tv_sec = (time_t)(ms / 1000),
                                  .tv_nsec = (long)(ms % 1000) * 1000000};
    sigset_t open_mask;

    stop_signal_install(&open_mask);
    (void)ppoll(NULL, 0, &time, &open_mask);
}

bool stop_signal_came(void)
{
    return came != 0;
}
