#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "sluicectl/client.h"
#include "sluicectl/commands.h"
#include "sluicectl/table.h"

static const char CLEAR_SCREEN[] = "\033[H\033[2J";

static void add_titles(struct table *table, const char *const *titles)
{
    for (size_t i = 0; i < table->columns; i++) {
        table_add(table, titles[i]);
    }
}

static void add_fields(struct table *table, json_object *object, const char *const *fields)
{
    for (size_t i = 0; i < table->columns; i++) {
        table_add_field(table, object, fields[i]);
    }
}

static void print_series(const struct invocation *invocation, json_object *series)
{
    static const char *const TITLES[] = {"AT",       "WAITING",  "READY",   "CLAIMED", "ENTERED",
                                         "ADMITTED", "CONSUMED", "EXPIRED", "LEFT"};
    static const char *const FIELDS[] = {"at",       "waiting",  "ready",   "claimed", "entered",
                                         "admitted", "consumed", "expired", "left"};
    struct table table;

    table_init(&table, invocation->arena, "lrrrrrrrr");
    add_titles(&table, TITLES);
    for (size_t i = 0; i < json_object_array_length(series); i++) {
        add_fields(&table, json_object_array_get_idx(series, i), FIELDS);
    }
    (void)putchar('\n');
    table_print(&table);
}

enum exit_code command_stats(const struct command *command, const struct invocation *invocation)
{
    const char *queue = id_argument(invocation, 0, "queue id");
    struct client_answer answer;
    struct table table;
    json_object *series = NULL;

    (void)command;
    if (queue == NULL) {
        return EXIT_USAGE;
    }
    if (!client_call(invocation, "GET",
                     arena_format(invocation->arena, "/v1/admin/queues/%s/stats?samples=%" PRId64,
                                  queue, invocation->samples),
                     NULL, &answer)) {
        return EXIT_FAILED;
    }
    if (invocation->json) {
        print_json(answer.body);
        return EXIT_DONE;
    }
    table_init(&table, invocation->arena, "ll");
    json_object_object_foreach(answer.body, name, value)
    {
        if (json_object_is_type(value, json_type_array)) {
            series = value;
        } else {
            table_add(&table, name);
            table_add(&table, value == NULL ? "" : json_object_get_string(value));
        }
    }
    table_print(&table);
    if (series != NULL && json_object_array_length(series) > 0) {
        print_series(invocation, series);
    }
    return EXIT_DONE;
}

/** The stats of every queue as an array, in the arena; NULL, and said why, where they cannot be had. */
static json_object *stats_of_all(const struct invocation *invocation)
{
    struct client_answer answer;

    if (!client_call(invocation, "GET", "/v1/admin/queues", NULL, &answer)) {
        return NULL;
    }
    json_object *queues = json_object_object_get(answer.body, "queues");
    for (size_t i = 0; i < json_object_array_length(queues); i++) {
        struct client_answer stats;
        json_object *queue = json_object_array_get_idx(queues, i);
        const char *id = json_object_get_string(json_object_object_get(queue, "queue"));
        if (!client_request(
                invocation, "GET",
                arena_format(invocation->arena, "/v1/admin/queues/%s/stats?samples=1", id), NULL,
                &stats)) {
            return NULL;
        }
        json_object *line = json_object_get(stats.body);
        if (stats.status != 200) {
            /* Redis cannot speak of it: it keeps its line. */
            (void)json_object_put(line);
            line = json_object_new_object();
            json_object_object_add(line, "queue", json_object_new_string(id));
            json_object_object_add(line, "state", json_object_new_string("UNAVAILABLE"));
        }
        (void)json_object_array_put_idx(queues, i, line);
    }
    return queues;
}

static enum exit_code print_status(const struct invocation *invocation)
{
    static const char *const TITLES[] = {"QUEUE",  "STATE",   "WAITING",    "READY",    "CLAIMED",
                                         "UNPAID", "ENTERED", "ADMITTED/S", "ORDERS/S", "LEADER"};
    static const char *const FIELDS[] = {"queue",
                                         "state",
                                         "waiting",
                                         "ready",
                                         "claimed",
                                         "unpaid",
                                         "entered",
                                         "admittedPerSecond",
                                         "consumedPerSecond",
                                         "leader"};
    json_object *queues = stats_of_all(invocation);
    struct table table;

    if (queues == NULL) {
        return EXIT_FAILED;
    }
    if (invocation->json) {
        print_json(queues);
        return EXIT_DONE;
    }
    table_init(&table, invocation->arena, "llrrrrrrrl");
    add_titles(&table, TITLES);
    for (size_t i = 0; i < json_object_array_length(queues); i++) {
        add_fields(&table, json_object_array_get_idx(queues, i), FIELDS);
    }
    if (invocation->watch && isatty(STDOUT_FILENO) == 1) {
        (void)fputs(CLEAR_SCREEN, stdout);
    }
    table_print(&table);
    return EXIT_DONE;
}

enum exit_code command_status(const struct command *command, const struct invocation *invocation)
{
    (void)command;
    if (!invocation->watch) {
        return print_status(invocation);
    }
    struct invocation round = *invocation;
    for (;;) {
        int64_t started = clock_monotonic_ms();
        round.arena = arena_new();
        (void)print_status(&round);
        arena_free(round.arena);
        if (fflush(stdout) != 0) {
            return EXIT_FAILED;
        }
        int64_t rest_ms = 1000 - (clock_monotonic_ms() - started);
        if (rest_ms > 0) {
            (void)usleep((useconds_t)rest_ms * 1000);
        }
    }
}
