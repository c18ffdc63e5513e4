#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/database/payments/payment_store.h"
#include "sluicectl/commands.h"
#include "sluicectl/output/table.h"
#include "sluicectl/server/client.h"

static void add_row(struct table *table, const char *const *cells)
{
    for (size_t i = 0; i < table->columns; i++) {
        table_add(table, cells[i]);
    }
}

static void add_fields(struct table *table, json_object *object, const char *const *fields)
{
    for (size_t i = 0; i < table->columns; i++) {
        table_add_field(table, object, fields[i]);
    }
}

enum exit_code command_payments_list(const struct command *command,
                                     const struct invocation *invocation)
{
    static const char *const TITLES[] = {"PAYMENT",  "ORDER",   "STATE",     "AMOUNT",
                                         "ATTEMPTS", "UPDATED", "NEXT LOOK", "LAST ERROR"};
    static const char *const FIELDS[] = {"id",       "order",     "state",      "amount",
                                         "attempts", "updatedAt", "nextLookAt", "lastError"};
    const char *state = invocation->argument_count > 0 ? invocation->arguments[0] : "";
    bool stuck = strcmp(command->words, "payments stuck") == 0;
    enum payment_phase phase;
    struct client_answer answer;
    struct table table;

    if (state[0] != '\0' && !payment_phase_parse(str_of(state), &phase)) {
        return misused("'%s' is not a state of a payment, such as UNKNOWN", state);
    }
    const char *path = arena_format(
        invocation->arena, "/v1/admin/payments?limit=%" PRId64 "&stuck=%s%s%s", invocation->limit,
        stuck ? "true" : "false", state[0] != '\0' ? "&state=" : "", state);
    if (!client_call(invocation, "GET", path, NULL, &answer)) {
        return EXIT_FAILED;
    }
    if (invocation->json) {
        print_json(answer.body);
        return EXIT_DONE;
    }
    json_object *payments = json_object_object_get(answer.body, "payments");
    table_init(&table, invocation->arena, "lllrrlll");
    add_row(&table, TITLES);
    for (size_t i = 0; i < json_object_array_length(payments); i++) {
        add_fields(&table, json_object_array_get_idx(payments, i), FIELDS);
    }
    table_print(&table);
    return EXIT_DONE;
}

/** The path of the payment in the first argument, followed by `more`; NULL, with a message, if it
 *  is none. */
static const char *payment_path(const struct invocation *invocation, const char *more)
{
    const char *id = invocation->arguments[0];

    if (!payment_id_is_valid(str_of(id))) {
        (void)misused("'%s' is not a payment's id: p_ and 22 characters", id);
        return NULL;
    }
    return arena_format(invocation->arena, "/v1/admin/payments/%s%s", id, more);
}

enum exit_code command_payments_show(const struct command *command,
                                     const struct invocation *invocation)
{
    static const char *const TITLES[] = {"AT", "FROM", "TO", "WHY"};
    static const char *const FIELDS[] = {"at", "from", "to", "why"};
    const char *path = payment_path(invocation, "");
    struct client_answer answer;
    struct table table;

    (void)command;
    if (path == NULL) {
        return EXIT_USAGE;
    }
    if (!client_call(invocation, "GET", path, NULL, &answer)) {
        return EXIT_FAILED;
    }
    if (invocation->json) {
        print_json(answer.body);
        return EXIT_DONE;
    }
    json_object *events = json_object_object_get(answer.body, "events");
    table_init(&table, invocation->arena, "ll");
    json_object_object_foreach(answer.body, name, value)
    {
        if (!json_object_is_type(value, json_type_array)) {
            table_add(&table, name);
            table_add(&table, value == NULL ? "" : json_object_get_string(value));
        }
    }
    table_print(&table);
    (void)putchar('\n');
    table_init(&table, invocation->arena, "llll");
    add_row(&table, TITLES);
    for (size_t i = 0; i < json_object_array_length(events); i++) {
        add_fields(&table, json_object_array_get_idx(events, i), FIELDS);
    }
    table_print(&table);
    return EXIT_DONE;
}

enum exit_code command_payments_look(const struct command *command,
                                     const struct invocation *invocation)
{
    const char *path = payment_path(invocation, "/look");
    struct client_answer answer;

    (void)command;
    if (path == NULL) {
        return EXIT_USAGE;
    }
    if (!client_call(invocation, "POST", path, NULL, &answer)) {
        return EXIT_FAILED;
    }
    if (invocation->json) {
        print_json(answer.body);
    } else {
        (void)puts(json_object_get_boolean(json_object_object_get(answer.body, "due"))
                       ? "The payment will be looked up."
                       : "There is nothing to look up.");
    }
    return EXIT_DONE;
}
