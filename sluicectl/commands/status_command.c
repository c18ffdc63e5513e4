#include <stdio.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "sluicectl/commands.h"
#include "sluicectl/output/live_screen.h"
#include "sluicectl/output/overview.h"
#include "sluicectl/output/table.h"

enum { SECOND_MS = 1000, BARS = 30, LINES_AROUND = 6, LEADER_SHOWN = 8 };

struct column {
    const char *title;
    const char *field;
};

static const struct column COLUMNS[] = {{"QUEUE", "queue"},
                                        {"STATE", "state"},
                                        {"WAITING", "waiting"},
                                        {"READY", "ready"},
                                        {"CLAIMED", "claimed"},
                                        {"UNPAID", "unpaid"},
                                        {"ENTERED", "entered"},
                                        {"RATE", "ratePerSecondInForce"},
                                        {"ADMITTED/S", "admittedPerSecond"},
                                        {"ORDERS/S", "consumedPerSecond"},
                                        {"LEADER", "leader"}};
/* The last column, the leader, is abbreviated. */
enum { COLUMN_COUNT = sizeof(COLUMNS) / sizeof(COLUMNS[0]) };

/** The additional columns of the live screen. */
static void add_live_titles(struct table *table)
{
    table_add(table, "WAIT S");
    table_add(table, "P95 MS");
    table_add(table, "WAITING, LAST 30 S");
}

/** The last seconds of those waiting, as bars. */
static const char *bars_of(struct arena *arena, json_object *stats)
{
    double numbers[BARS];
    json_object *series = json_object_object_get(stats, "series");
    size_t length =
        json_object_is_type(series, json_type_array) ? json_object_array_length(series) : 0;
    size_t count = length < BARS ? length : BARS;

    for (size_t i = 0; i < count; i++) {
        numbers[i] = json_object_get_double(json_object_object_get(
            json_object_array_get_idx(series, length - count + i), "waiting"));
    }
    return live_screen_bars(arena, numbers, (int)count);
}

/** Enough of the leading scheduler's name to identify it. */
static const char *leader_of(struct arena *arena, json_object *stats)
{
    return arena_format(arena, "%.*s", LEADER_SHOWN, text_field(stats, "leader", ""));
}

/** Prints at most `most` queues; `live`: with their last seconds. */
static void print_queues(const struct invocation *invocation, json_object *queues, size_t most,
                         bool live)
{
    struct table table;
    size_t count = json_object_array_length(queues);

    table_init(&table, invocation->arena, live ? "llrrrrrrrrlrrl" : "llrrrrrrrrl");
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        table_add(&table, COLUMNS[i].title);
    }
    if (live) {
        add_live_titles(&table);
    }
    for (size_t row = 0; row < count && row < most; row++) {
        json_object *stats = json_object_array_get_idx(queues, row);
        for (size_t i = 0; i + 1 < COLUMN_COUNT; i++) {
            table_add_field(&table, stats, COLUMNS[i].field);
        }
        table_add(&table, leader_of(invocation->arena, stats));
        if (live) {
            table_add_field(&table, stats, "actualWaitSeconds");
            table_add_field(&table, json_object_object_get(stats, "orderLatencyMs"), "p95");
            table_add(&table, bars_of(invocation->arena, stats));
        }
    }
    table_print(&table);
    if (count > most) {
        (void)printf("… and %zu more\n", count - most);
    }
}

static enum exit_code print_status(const struct invocation *invocation)
{
    struct overview overview;

    if (!overview_read(invocation, 1, &overview)) {
        return EXIT_FAILED;
    }
    if (invocation->json) {
        print_json(overview.queues);
    } else {
        print_queues(invocation, overview.queues, TABLE_ROWS_MAX - 1, false);
    }
    return EXIT_DONE;
}

static const char *word_of(json_object *whole, const char *part)
{
    return json_object_get_boolean(json_object_object_get(whole, part)) ? "answers"
                                                                        : "DOES NOT ANSWER";
}

static double sum_of(json_object *queues, const char *field)
{
    double sum = 0;

    for (size_t i = 0; i < json_object_array_length(queues); i++) {
        sum += json_object_get_double(
            json_object_object_get(json_object_array_get_idx(queues, i), field));
    }
    return sum;
}

/** One frame of the live screen; if the server does not answer, it says so and continues. */
static void draw(const struct invocation *invocation)
{
    struct overview overview;
    char now[RFC3339_TEXT + 1];
    int room = live_screen_lines() - LINES_AROUND;

    rfc3339_format(clock_wall_ms(), now);
    live_screen_clear();
    (void)printf("Sluice at %s  %.19sZ\n", invocation->url, now);
    (void)fflush(stdout);
    if (!overview_read(invocation, BARS, &overview)) {
        return;
    }
    if (overview.whole != NULL) {
        (void)printf("Redis %s, PostgreSQL %s\n", word_of(overview.whole, "redis"),
                     word_of(overview.whole, "postgres"));
    }
    (void)printf("%.0f waiting, %.0f inside, %.1f admitted/s, %.1f orders/s\n\n",
                 sum_of(overview.queues, "waiting"),
                 sum_of(overview.queues, "ready") + sum_of(overview.queues, "claimed"),
                 sum_of(overview.queues, "admittedPerSecond"),
                 sum_of(overview.queues, "consumedPerSecond"));
    print_queues(invocation, overview.queues, room > 1 ? (size_t)room : 1, true);
    (void)fputs("\nq: end", stdout);
}

/** Runs until q, Ctrl-C or a signal. */
static enum exit_code watch_live(const struct invocation *invocation)
{
    struct invocation round = *invocation;
    bool goes_on = true;

    while (goes_on) {
        int64_t started = clock_monotonic_ms();
        round.arena = arena_new();
        draw(&round);
        arena_free(round.arena);
        goes_on = live_screen_wait((long)(SECOND_MS - (clock_monotonic_ms() - started)));
    }
    live_screen_end();
    return EXIT_DONE;
}

/** For a file or another program: table after table, or a line of JSON a second. */
static enum exit_code watch_plainly(const struct invocation *invocation)
{
    struct invocation round = *invocation;

    for (;;) {
        int64_t started = clock_monotonic_ms();
        round.arena = arena_new();
        (void)print_status(&round);
        arena_free(round.arena);
        if (fflush(stdout) != 0) {
            return EXIT_FAILED;
        }
        int64_t rest_ms = SECOND_MS - (clock_monotonic_ms() - started);
        if (rest_ms > 0) {
            (void)usleep((useconds_t)rest_ms * 1000);
        }
    }
}

enum exit_code command_status(const struct command *command, const struct invocation *invocation)
{
    (void)command;
    if (!invocation->watch) {
        return print_status(invocation);
    }
    return !invocation->json && live_screen_start() ? watch_live(invocation)
                                                    : watch_plainly(invocation);
}
