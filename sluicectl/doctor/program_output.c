#include "sluicectl/doctor/program_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/buffer.h"
#include "lib/base/clock.h"

enum { OUTPUT_MAX = 8 * 1024 * 1024, NOT_FOUND = 127, STREAMS = 2 };

/** In the child: executes the program. */
static void exec_program(const char *const *words, const int *ends)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(ends[0], STDOUT_FILENO) < 0 ||
        dup2(ends[1], STDERR_FILENO) < 0) {
        _exit(NOT_FOUND);
    }
    /* execvp() does not modify the words; its declaration predates const. */
    union {
        const char *const *from;
        char *const *to;
    } same = {.from = words};
    (void)execvp(words[0], same.to);
    _exit(NOT_FOUND);
}

/** Reads both streams to their ends; false on a time-out. */
static bool read_streams(const int *ends, struct buffer *streams, int seconds)
{
    struct pollfd polled[STREAMS] = {{.fd = ends[0], .events = POLLIN},
                                     {.fd = ends[1], .events = POLLIN}};
    int64_t deadline = clock_monotonic_ms() + (int64_t)seconds * 1000;
    int open_streams = STREAMS;
    char part[16384];

    while (open_streams > 0) {
        int64_t rest_ms = deadline - clock_monotonic_ms();
        if (rest_ms <= 0 || (poll(polled, STREAMS, (int)rest_ms) < 0 && errno != EINTR)) {
            return false;
        }
        for (int i = 0; i < STREAMS; i++) {
            if (polled[i].fd < 0 || polled[i].revents == 0) {
                continue;
            }
            ssize_t n = read(polled[i].fd, part, sizeof(part));
            if (n > 0) {
                buffer_add(&streams[i], str_sized(part, (size_t)n));
            } else if (n == 0 || errno != EINTR) {
                polled[i].fd = -1;
                open_streams--;
            }
        }
    }
    return true;
}

static int wait_for(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool program_output(struct arena *arena, const char *const *words, int seconds,
                    struct program_output *output)
{
    int out[2];
    int err[2];
    struct buffer streams[STREAMS];

    *output = (struct program_output){.status = -1};
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
        abort();
    }
    pid_t pid = fork();
    if (pid < 0) {
        abort();
    }
    if (pid == 0) {
        exec_program(words, (const int[]){out[1], err[1]});
    }
    (void)close(out[1]);
    (void)close(err[1]);
    buffer_init(&streams[0], OUTPUT_MAX);
    buffer_init(&streams[1], OUTPUT_MAX);
    if (!read_streams((const int[]){out[0], err[0]}, streams, seconds)) {
        (void)kill(pid, SIGKILL);
    }
    output->status = wait_for(pid);
    (void)close(out[0]);
    (void)close(err[0]);
    for (int i = 0; i < STREAMS; i++) {
        struct str text = buffer_text(&streams[i]);
        *(i == 0 ? &output->output : &output->errors) = str_sized(arena_copy(arena, text), text.n);
        buffer_free(&streams[i]);
    }
    return output->status != NOT_FOUND;
}
