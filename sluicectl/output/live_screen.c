#include "sluicectl/output/live_screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { LINES_USUAL = 24, BAR_BYTES = 3, BAR_STEPS = 8 };

/* Alternate screen, no cursor, long lines cut; and back. */
static const char TAKE[] = "\033[?1049h\033[?25l\033[?7l";
static const char GIVE[] = "\033[?7h\033[?25h\033[?1049l";
static const char CLEAR[] = "\033[H\033[2J";

static struct termios before;
static bool keys_taken;
static volatile sig_atomic_t over;

static void end_it(int number)
{
    (void)number;
    over = 1;
}

bool live_screen_start(void)
{
    struct sigaction action = {.sa_handler = end_it};

    if (isatty(STDOUT_FILENO) != 1) {
        return false;
    }
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
    keys_taken = isatty(STDIN_FILENO) == 1 && tcgetattr(STDIN_FILENO, &before) == 0;
    if (keys_taken) {
        struct termios raw = before;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    (void)fputs(TAKE, stdout);
    return true;
}

void live_screen_clear(void)
{
    (void)fputs(CLEAR, stdout);
}

bool live_screen_wait(long rest_ms)
{
    struct pollfd keys = {.fd = keys_taken ? STDIN_FILENO : -1, .events = POLLIN};
    char key = '\0';

    if (fflush(stdout) != 0) {
        return false;
    }
    int ready = poll(&keys, 1, rest_ms > 0 ? (int)rest_ms : 0);
    if (ready > 0) {
        ssize_t n = read(STDIN_FILENO, &key, 1);
        if (n <= 0 || key == 'q' || key == 'Q' || key == '\003') {
            over = 1;
        }
    }
    return over == 0;
}

void live_screen_end(void)
{
    (void)fputs(GIVE, stdout);
    (void)fflush(stdout);
    if (keys_taken) {
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &before);
    }
}

int live_screen_lines(void)
{
    struct winsize size;

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row
                                                                           : LINES_USUAL;
}

const char *live_screen_bars(struct arena *arena, const double *numbers, int count)
{
    static const char BARS[BAR_STEPS][BAR_BYTES + 1] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    char *text = arena_alloc(arena, (size_t)count * BAR_BYTES + 1);
    double largest = 0;

    for (int i = 0; i < count; i++) {
        largest = numbers[i] > largest ? numbers[i] : largest;
    }
    for (int i = 0; i < count; i++) {
        int step =
            largest > 0 && numbers[i] > 0 ? (int)(numbers[i] / largest * (BAR_STEPS - 1) + 0.5) : 0;
        memcpy(text + i * BAR_BYTES, BARS[step], BAR_BYTES);
    }
    return text;
}
