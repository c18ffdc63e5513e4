#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sluicectl/commands.h"
#include "sluicectl/sale/sale_change.h"
#include "sluicectl/server/client.h"
#include "sluicectl/server/pages.h"

/** The results so far. */
struct tally {
    json_object *changes; /* [{"kind", "id", "action", "fields"}] */
    int64_t created;
    int64_t changed;
    int64_t same;
};

static const char *shown(json_object *value)
{
    return json_object_to_json_string_ext(value,
                                          JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
}

static void print_change(const struct sale_change *change)
{
    (void)printf("%s %s/%s\n", change->present == NULL ? "+" : "~", change->kind->one, change->id);
    for (size_t i = 0; i < json_object_array_length(change->fields); i++) {
        json_object *field = json_object_array_get_idx(change->fields, i);
        json_object *before = json_object_object_get(field, "before");
        (void)printf("    %s: ", text_field(field, "name", ""));
        if (change->present != NULL) {
            print_plain(stdout, shown(before));
            (void)fputs(" → ", stdout);
        }
        print_plain(stdout, shown(json_object_object_get(field, "after")));
        (void)putchar('\n');
    }
}

static void note(const struct invocation *invocation, struct tally *tally,
                 const struct sale_change *change)
{
    bool fresh = change->present == NULL;

    if (!fresh && json_object_array_length(change->fields) == 0) {
        tally->same++;
        return;
    }
    (*(fresh ? &tally->created : &tally->changed))++;
    json_object *row = json_object_new_object();
    json_object_object_add(row, "kind", json_object_new_string(change->kind->one));
    json_object_object_add(row, "id", json_object_new_string(change->id));
    json_object_object_add(row, "action", json_object_new_string(fresh ? "create" : "change"));
    json_object_object_add(row, "fields", json_object_get(change->fields));
    json_object_array_add(tally->changes, row);
    if (!invocation->json) {
        print_change(change);
    }
}

/** Goes through the file in the order of the kinds and, if `makes`, applies it. False, with a
 *  message, if the server refused or did not answer. */
static bool apply_all(const struct invocation *invocation, json_object *sale, bool makes,
                      struct tally *tally)
{
    for (size_t i = 0; i < SALE_KINDS; i++) {
        json_object *objects = json_object_object_get(sale, SALE_KIND_ROWS[i].name);
        if (objects == NULL) {
            continue;
        }
        json_object_object_foreach(objects, id, wanted)
        {
            struct sale_change change;
            if (!sale_change_find(invocation, &SALE_KIND_ROWS[i], id, wanted, &change)) {
                return false;
            }
            bool differs = change.present == NULL || json_object_array_length(change.fields) > 0;
            if (differs && makes && !sale_change_make(invocation, &change)) {
                return false;
            }
            note(invocation, tally, &change);
        }
    }
    return true;
}

static void print_tally(const struct invocation *invocation, const struct tally *tally)
{
    json_object *answer = scratch_object(invocation);

    if (!invocation->json) {
        (void)printf("%" PRId64 " new, %" PRId64 " changed, %" PRId64 " as they were\n",
                     tally->created, tally->changed, tally->same);
        return;
    }
    json_object_object_add(answer, "created", json_object_new_int64(tally->created));
    json_object_object_add(answer, "changed", json_object_new_int64(tally->changed));
    json_object_object_add(answer, "same", json_object_new_int64(tally->same));
    json_object_object_add(answer, "changes", json_object_get(tally->changes));
    print_json(answer);
}

static enum exit_code process_file(const struct invocation *invocation, bool makes)
{
    json_object *sale = sale_file_read(invocation);
    struct tally tally = {0};

    if (sale == NULL) {
        return invocation->file[0] == '\0' ? EXIT_USAGE : EXIT_CONFIG;
    }
    tally.changes = json_object_new_array();
    bool done = apply_all(invocation, sale, makes, &tally);
    if (done) {
        print_tally(invocation, &tally);
    }
    (void)json_object_put(tally.changes);
    if (!done) {
        return EXIT_FAILED;
    }
    return makes || tally.created + tally.changed == 0 ? EXIT_DONE : EXIT_FAILED;
}

enum exit_code command_apply(const struct command *command, const struct invocation *invocation)
{
    (void)command;
    return process_file(invocation, true);
}

enum exit_code command_diff(const struct command *command, const struct invocation *invocation)
{
    (void)command;
    return process_file(invocation, false);
}

/** An object as a file has it: without the fields that the server sets. */
static json_object *portable(const struct sale_kind *kind, json_object *object)
{
    json_object *kept = json_object_new_object();

    json_object_object_foreach(object, name, value)
    {
        if (sale_field_is_known(kind, name)) {
            json_object_object_add(kept, name, json_object_get(value));
        }
    }
    return kept;
}

/** Adds the seats, as the list has shows without them. */
static json_object *with_seats(const struct invocation *invocation, const struct sale_kind *kind,
                               const char *id, json_object *object)
{
    struct client_answer answer;

    if (strcmp(kind->one, "show") != 0) {
        return object;
    }
    return client_call(invocation, "GET", arena_format(invocation->arena, "%s/%s", kind->path, id),
                       NULL, &answer)
               ? answer.body
               : NULL;
}

enum exit_code command_export(const struct command *command, const struct invocation *invocation)
{
    json_object *sale = scratch_object(invocation);

    (void)command;
    for (size_t i = 0; i < SALE_KINDS; i++) {
        const struct sale_kind *kind = &SALE_KIND_ROWS[i];
        json_object *list = pages_read(invocation, kind->path, kind->list);
        if (list == NULL) {
            return EXIT_FAILED;
        }
        json_object *objects = json_object_new_object();
        json_object_object_add(sale, kind->name, objects);
        for (size_t row = 0; row < json_object_array_length(list); row++) {
            json_object *object = json_object_array_get_idx(list, row);
            const char *id = text_field(object, kind->id, "");
            object = with_seats(invocation, kind, id, object);
            if (object == NULL) {
                return EXIT_FAILED;
            }
            json_object_object_add(objects, id, portable(kind, object));
        }
    }
    return sale_file_write(invocation, sale);
}
