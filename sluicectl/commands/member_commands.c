#include <stdio.h>
#include <string.h>

#include "lib/identity/visitor.h"
#include "sluicectl/commands.h"
#include "sluicectl/output/table.h"
#include "sluicectl/server/client.h"

/** The path of the member in the arguments, followed by `behind`; NULL, with a message, for a bad
 *  id. */
static const char *member_path(const struct invocation *invocation, const char *behind)
{
    const char *queue = id_argument(invocation, 0, "queue id");
    const char *member = invocation->arguments[1];

    if (queue == NULL) {
        return NULL;
    }
    /* Their characters need no encoding. */
    if (!visitor_or_member_is(str_of(member))) {
        (void)misused("'%s' is not a member's id (1 to 64 of A-Z, a-z, 0-9, '.', '_', ':' and '-') "
                      "or a visitor's",
                      member);
        return NULL;
    }
    return arena_format(invocation->arena, "/v1/admin/queues/%s/members/%s%s", queue, member,
                        behind);
}

static enum exit_code print_member(const struct invocation *invocation, json_object *member)
{
    struct table table;

    if (invocation->json) {
        print_json(member);
        return EXIT_DONE;
    }
    table_init(&table, invocation->arena, "ll");
    json_object_object_foreach(member, name, value)
    {
        if (strcmp(name, "why") != 0) {
            table_add(&table, name);
            table_add(&table, value == NULL ? "" : json_object_get_string(value));
        }
    }
    table_print(&table);
    return EXIT_DONE;
}

enum exit_code command_member_get(const struct command *command,
                                  const struct invocation *invocation)
{
    const char *path = member_path(invocation, "");
    struct client_answer answer;

    (void)command;
    if (path == NULL) {
        return EXIT_USAGE;
    }
    return client_call(invocation, "GET", path, NULL, &answer)
               ? print_member(invocation, answer.body)
               : EXIT_FAILED;
}

enum exit_code command_member_why(const struct command *command,
                                  const struct invocation *invocation)
{
    const char *path = member_path(invocation, "");
    struct client_answer answer;
    json_object *why = NULL;

    (void)command;
    if (path == NULL) {
        return EXIT_USAGE;
    }
    if (!client_call(invocation, "GET", path, NULL, &answer)) {
        return EXIT_FAILED;
    }
    if (!json_object_object_get_ex(answer.body, "why", &why) || why == NULL) {
        return failed("this server does not explain it; see: sluicectl member get");
    }
    if (invocation->json) {
        print_json(answer.body);
    } else if (json_object_is_type(why, json_type_object)) {
        print_plain(stdout, arena_format(invocation->arena, "%s  %s", text_field(why, "code", "-"),
                                         text_field(why, "detail", "-")));
        (void)putchar('\n');
    } else {
        print_plain(stdout, json_object_get_string(why));
        (void)putchar('\n');
    }
    return EXIT_DONE;
}

enum exit_code command_member_act(const struct command *command,
                                  const struct invocation *invocation)
{
    bool admits = strcmp(command_verb(command), "admit") == 0;
    const char *path = member_path(invocation, admits ? "/promote" : "/evict");
    struct client_answer answer;

    if (path == NULL) {
        return EXIT_USAGE;
    }
    return client_call(invocation, "POST", path, NULL, &answer)
               ? print_member(invocation, answer.body)
               : EXIT_FAILED;
}
