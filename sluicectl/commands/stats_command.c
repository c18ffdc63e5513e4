#include <inttypes.h>
#include <stdio.h>

#include "sluicectl/commands.h"
#include "sluicectl/output/table.h"
#include "sluicectl/server/client.h"

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
