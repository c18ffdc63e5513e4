#include <inttypes.h>
#include <string.h>

#include "sluicectl/commands.h"
#include "sluicectl/output/table.h"
#include "sluicectl/server/client.h"

/** Appends " name: old → new" for each difference between two values, recursing into objects. */
static const char *difference(struct arena *arena, const char *text, const char *name,
                              json_object *before, json_object *after)
{
    if (json_object_equal(before, after)) {
        return text;
    }
    if (!json_object_is_type(before, json_type_object) ||
        !json_object_is_type(after, json_type_object)) {
        return arena_format(arena, "%s%s%s: %s → %s", text, text[0] == '\0' ? "" : ", ", name,
                            json_object_to_json_string_ext(before, JSON_C_TO_STRING_PLAIN),
                            json_object_to_json_string_ext(after, JSON_C_TO_STRING_PLAIN));
    }
    json_object_object_foreach(after, field, value)
    {
        if (strcmp(field, "version") != 0) {
            text = difference(arena, text, field, json_object_object_get(before, field), value);
        }
    }
    return text;
}

enum exit_code command_audit(const struct command *command, const struct invocation *invocation)
{
    static const char *const TITLES[] = {"AT", "ACTOR", "ACTION", "TARGET", "CHANGE"};
    struct client_answer answer;
    struct table table;

    (void)command;
    const char *path =
        arena_format(invocation->arena, "/v1/admin/audit?limit=%" PRId64 "%s%s", invocation->limit,
                     invocation->target[0] != '\0' ? "&target=" : "", invocation->target);
    if (!client_call(invocation, "GET", path, NULL, &answer)) {
        return EXIT_FAILED;
    }
    if (invocation->json) {
        print_json(answer.body);
        return EXIT_DONE;
    }
    json_object *entries = json_object_object_get(answer.body, "entries");
    table_init(&table, invocation->arena, "lllll");
    for (size_t i = 0; i < sizeof(TITLES) / sizeof(TITLES[0]); i++) {
        table_add(&table, TITLES[i]);
    }
    for (size_t i = 0; i < json_object_array_length(entries); i++) {
        json_object *entry = json_object_array_get_idx(entries, i);
        json_object *before = json_object_object_get(entry, "before");
        table_add_field(&table, entry, "at");
        table_add_field(&table, entry, "actor");
        table_add_field(&table, entry, "action");
        table_add_field(&table, entry, "target");
        table_add(&table, before == NULL ? ""
                                         : difference(invocation->arena, "", "", before,
                                                      json_object_object_get(entry, "after")));
    }
    table_print(&table);
    return EXIT_DONE;
}
