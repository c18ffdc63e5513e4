/*
 * sluice-shoppers — a crowd of simulated shoppers for a Sluice on this machine.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>

#include "demo/api_client.h"
#include "demo/crowd.h"
#include "demo/options.h"
#include "demo/shop.h"
#include "demo/status_line.h"
#include "demo/tally.h"
#include "lib/base/arena.h"
#include "lib/base/clock.h"
#include "lib/base/secret.h"
#include "lib/base/str.h"
#include "lib/identity/mac_key.h"

enum { LINE_MS = 1000, LINE_TEXT = 256 };

/* A descriptor that becomes readable once SIGTERM or SIGINT has arrived. */
static int catch_stop(void)
{
    sigset_t stop;

    (void)sigemptyset(&stop);
    (void)sigaddset(&stop, SIGTERM);
    (void)sigaddset(&stop, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &stop, NULL);
    (void)sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    int fd = signalfd(-1, &stop, SFD_CLOEXEC);
    if (fd < 0) {
        perror("sluice-shoppers: signalfd");
        exit(EXIT_FAILURE);
    }
    return fd;
}

/* A key file's first and only line; lives in the arena. */
static struct str read_key(struct arena *arena, const char *data_dir, const char *name)
{
    char error[SECRET_ERROR];
    char *bytes = NULL;
    size_t length = 0;

    if (!secret_read(arena_format(arena, "%s/secrets/%s", data_dir, name), &bytes, &length,
                     error)) {
        (void)fprintf(stderr, "sluice-shoppers: %s\n", error);
        exit(EXIT_FAILURE);
    }
    struct str key;
    struct str rest;
    (void)str_split(str_sized(bytes, length), '\n', &key, &rest);
    key = str_of(arena_copy(arena, key));
    secret_free(bytes, length);
    return key;
}

static void show_line(const struct shop *shop, const struct tally *tally)
{
    char numbers[LINE_TEXT] = "waiting ?  ready ?";
    char rate[LINE_TEXT] = "?";
    char line[3 * LINE_TEXT];

    if (shop->numbers.known) {
        (void)snprintf(numbers, sizeof(numbers), "waiting %" PRId64 "  ready %" PRId64,
                       shop->numbers.waiting, shop->numbers.ready);
        (void)snprintf(rate, sizeof(rate), "%.1f", shop->numbers.admitted_per_second);
    }
    (void)snprintf(line, sizeof(line),
                   "%s  ordering %" PRId64 "  ordered %" PRId64 "  admitted/s %s%s%s%s", numbers,
                   tally->peak, tally->ordered, rate, tally->trouble[0] != '\0' ? "  (" : "",
                   tally->trouble, tally->trouble[0] != '\0' ? ")" : "");
    status_line_show(line);
}

/* Runs until the time is up or a signal arrives. */
static void run(const struct options *options, struct api_client *api, struct shop *shop,
                struct crowd *crowd, struct tally *tally, int stop_fd)
{
    int64_t start = clock_monotonic_ms();
    int64_t end = options->seconds > 0 ? start + options->seconds * 1000 : INT64_MAX;
    int64_t next_line = start + LINE_MS;
    bool stopped = false;

    while (!stopped) {
        int64_t now = clock_monotonic_ms();
        if (now >= end) {
            return;
        }
        int64_t wait = shop_step(shop, now);
        if (shop->open) {
            int64_t crowd_wait = crowd_step(crowd, now);
            wait = crowd_wait < wait ? crowd_wait : wait;
        }
        if (now >= next_line) {
            show_line(shop, tally);
            tally_new_second(tally);
            next_line += LINE_MS * ((now - next_line) / LINE_MS + 1);
        }
        wait = next_line - now < wait ? next_line - now : wait;
        stopped = api_client_step(api, wait > 0 ? wait : 0, stop_fd);
    }
}

int main(int count, char **arguments)
{
    struct options options;
    struct shop shop;
    struct tally tally = {0};
    struct arena *arena = arena_new();

    options_read(count, arguments, &options);
    struct str admin_key = read_key(arena, options.data_dir, "admin.key");
    struct shopper_context context = {
        .tally = &tally,
        .queue = options.queue,
        .member_key = mac_key_new(read_key(arena, options.data_dir, "member-jwt.key")),
    };
    random_id(context.run);

    int stop_fd = catch_stop();
    int64_t start = clock_monotonic_ms();
    struct api_client *api = api_client_new(options.url);
    context.api = api;
    struct crowd *crowd = crowd_new(&context, options.shoppers, start);
    shop_init(&shop, api, &tally, options.queue, admin_key.p);

    run(&options, api, &shop, crowd, &tally, stop_fd);

    status_line_end();
    tally_print(&tally, (clock_monotonic_ms() - start) / 1000, stdout);
    api_client_free(api);
    crowd_free(crowd);
    mac_key_free(context.member_key);
    arena_free(arena);
    return EXIT_SUCCESS;
}
