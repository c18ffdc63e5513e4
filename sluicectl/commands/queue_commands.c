#include <stdio.h>
#include <string.h>

#include "sluicectl/commands.h"
#include "sluicectl/commands/setting_arguments.h"
#include "sluicectl/output/table.h"
#include "sluicectl/server/client.h"

static void release_json(void *object)
{
    (void)json_object_put(object);
}

static const char *queue_path(const struct invocation *invocation, const char *queue,
                              const char *rest)
{
    return arena_format(invocation->arena, "/v1/admin/queues/%s%s", queue, rest);
}

/** Prints the state of a queue in one line. */
static void print_summary(const struct invocation *invocation, json_object *queue)
{
    struct table table;

    table_init(&table, invocation->arena, "llllllll");
    table_add_field(&table, queue, "queue");
    table_add_field(&table, queue, "state");
    table_add(&table, "rate");
    table_add_field(&table, queue, "ratePerSecond");
    table_add(&table, "burst");
    table_add_field(&table, queue, "burst");
    table_add(&table, "max-active");
    table_add_field(&table, queue, "maxActive");
    table_print(&table);
}

static void print_settings(const struct invocation *invocation, json_object *queue)
{
    struct table table;

    table_init(&table, invocation->arena, "ll");
    json_object_object_foreach(queue, name, value)
    {
        const char *shown = name;
        for (int i = 0; i < QUEUE_SETTING_COUNT; i++) {
            const struct queue_setting *setting = queue_setting((enum queue_setting_number)i);
            if (strcmp(name, setting->name) == 0) {
                shown = setting_short_name(invocation->arena, setting);
            }
        }
        table_add(&table, shown);
        table_add(&table, value == NULL ? "" : json_object_get_string(value));
    }
    table_print(&table);
}

enum exit_code command_queue_list(const struct command *command,
                                  const struct invocation *invocation)
{
    static const char *const FIELDS[] = {"queue",     "state",      "ratePerSecond", "burst",
                                         "maxActive", "maxWaiting", "identity",      "updatedAt"};
    static const char *const TITLES[] = {"QUEUE",      "STATE",       "RATE",     "BURST",
                                         "MAX-ACTIVE", "MAX-WAITING", "IDENTITY", "UPDATED"};
    struct client_answer answer;
    struct table table;

    (void)command;
    if (!client_call(invocation, "GET", "/v1/admin/queues", NULL, &answer)) {
        return EXIT_FAILED;
    }
    if (invocation->json) {
        print_json(answer.body);
        return EXIT_DONE;
    }
    json_object *queues = json_object_object_get(answer.body, "queues");
    table_init(&table, invocation->arena, "llrrrrll");
    for (size_t i = 0; i < sizeof(TITLES) / sizeof(TITLES[0]); i++) {
        table_add(&table, TITLES[i]);
    }
    for (size_t row = 0; row < json_object_array_length(queues); row++) {
        for (size_t i = 0; i < sizeof(FIELDS) / sizeof(FIELDS[0]); i++) {
            table_add_field(&table, json_object_array_get_idx(queues, row), FIELDS[i]);
        }
    }
    table_print(&table);
    return EXIT_DONE;
}

enum exit_code command_queue_get(const struct command *command, const struct invocation *invocation)
{
    const char *queue = id_argument(invocation, 0, "queue id");
    struct client_answer answer;

    (void)command;
    if (queue == NULL) {
        return EXIT_USAGE;
    }
    if (!client_call(invocation, "GET", queue_path(invocation, queue, ""), NULL, &answer)) {
        return EXIT_FAILED;
    }
    if (invocation->json) {
        print_json(answer.body);
    } else {
        print_settings(invocation, answer.body);
    }
    return EXIT_DONE;
}

static enum exit_code print_queue(const struct invocation *invocation, json_object *queue)
{
    if (invocation->json) {
        print_json(queue);
    } else {
        print_summary(invocation, queue);
    }
    return EXIT_DONE;
}

enum exit_code command_queue_set(const struct command *command, const struct invocation *invocation)
{
    const char *queue = id_argument(invocation, 0, "queue id");
    struct client_answer answer;

    (void)command;
    json_object *settings =
        queue == NULL ? NULL
                      : setting_arguments_read(invocation->arena, invocation->arguments + 1,
                                               invocation->argument_count - 1);
    if (settings == NULL) {
        return EXIT_USAGE;
    }
    arena_on_reset(invocation->arena, release_json, settings);
    const char *path = queue_path(invocation, queue, "");
    if (!client_request(invocation, "PATCH", path, settings, &answer)) {
        return EXIT_FAILED;
    }
    if (answer.status == 404 && !client_request(invocation, "PUT", path, settings, &answer)) {
        return EXIT_FAILED;
    }
    if (answer.status != 200 && answer.status != 201) {
        return client_refused(invocation, &answer);
    }
    return print_queue(invocation, answer.body);
}

enum exit_code command_queue_act(const struct command *command, const struct invocation *invocation)
{
    const char *queue = id_argument(invocation, 0, "queue id");
    struct client_answer answer;

    if (queue == NULL) {
        return EXIT_USAGE;
    }
    if (!client_call(
            invocation, "POST",
            queue_path(invocation, queue,
                       arena_format(invocation->arena, "/actions/%s", command_verb(command))),
            NULL, &answer)) {
        return EXIT_FAILED;
    }
    return print_queue(invocation, answer.body);
}

/** Changes one setting of an existing queue; `value` is owned by the request. */
static enum exit_code change_setting(const struct invocation *invocation, const char *name,
                                     json_object *value)
{
    const char *queue = id_argument(invocation, 0, "queue id");
    json_object *settings = scratch_object(invocation);
    struct client_answer answer;

    json_object_object_add(settings, name, value);
    if (queue == NULL) {
        return EXIT_USAGE;
    }
    if (!client_call(invocation, "PATCH", queue_path(invocation, queue, ""), settings, &answer)) {
        return EXIT_FAILED;
    }
    return print_queue(invocation, answer.body);
}

enum exit_code command_queue_rate(const struct command *command,
                                  const struct invocation *invocation)
{
    char *argument = arena_format(invocation->arena, "rate=%s", invocation->arguments[1]);

    (void)command;
    json_object *read = setting_arguments_read(invocation->arena, &argument, 1);
    if (read == NULL) {
        return EXIT_USAGE;
    }
    arena_on_reset(invocation->arena, release_json, read);
    return change_setting(invocation, "ratePerSecond",
                          json_object_get(json_object_object_get(read, "ratePerSecond")));
}

enum exit_code command_queue_message(const struct command *command,
                                     const struct invocation *invocation)
{
    bool none = invocation->argument_count < 2 || invocation->arguments[1][0] == '\0';

    (void)command;
    return change_setting(invocation, "message",
                          none ? NULL : json_object_new_string(invocation->arguments[1]));
}

enum exit_code command_queue_hold(const struct command *command,
                                  const struct invocation *invocation)
{
    bool holds = strcmp(command_verb(command), "hold") == 0;

    return change_setting(invocation, "activation", json_object_new_string(holds ? "hold" : "on"));
}

enum exit_code command_queue_delete(const struct command *command,
                                    const struct invocation *invocation)
{
    const char *queue = id_argument(invocation, 0, "queue id");
    struct client_answer answer;

    (void)command;
    if (queue == NULL) {
        return EXIT_USAGE;
    }
    if (!client_call(invocation, "DELETE",
                     queue_path(invocation, queue, invocation->force ? "?force=true" : ""), NULL,
                     &answer)) {
        return EXIT_FAILED;
    }
    if (invocation->json) {
        (void)printf("{\"queue\":\"%s\",\"deleted\":true}\n", queue);
    } else {
        (void)printf("%s  deleted\n", queue);
    }
    return EXIT_DONE;
}
