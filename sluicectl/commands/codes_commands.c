#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sluicectl/commands.h"
#include "sluicectl/commands/code_generation.h"
#include "sluicectl/output/table.h"
#include "sluicectl/server/client.h"

static const char *codes_path(const struct invocation *invocation, const char *queue)
{
    return arena_format(invocation->arena, "/v1/admin/queues/%s/codes", queue);
}

/** A request for codes with the given kind and uses; NULL, with a message, for a bad command
 *  line. */
static json_object *new_request(const struct invocation *invocation)
{
    const char *kind = invocation->arguments[1];

    if (strcmp(kind, "invite") != 0 && strcmp(kind, "priority") != 0) {
        (void)misused("a code's kind must be invite or priority, not '%s'", kind);
        return NULL;
    }
    json_object *request = scratch_object(invocation);
    json_object_object_add(request, "kind", json_object_new_string(kind));
    json_object_object_add(request, "uses", json_object_new_int64(invocation->uses));
    if (invocation->expires[0] != '\0') {
        json_object_object_add(request, "expiresAt", json_object_new_string(invocation->expires));
    }
    return request;
}

/** Sends `request` with the codes in `codes`. */
static enum exit_code send_codes(const struct invocation *invocation, const char *queue,
                                 json_object *request, json_object *codes, int64_t *added)
{
    struct client_answer answer;

    json_object_object_add(request, "codes", codes);
    if (!client_call(invocation, "POST", codes_path(invocation, queue), request, &answer)) {
        return EXIT_FAILED;
    }
    *added += json_object_get_int64(json_object_object_get(answer.body, "added"));
    return EXIT_DONE;
}

/** Reads codes from standard input, one a line, and sends them in batches. */
static enum exit_code send_lines(const struct invocation *invocation, const char *queue,
                                 json_object *request, int64_t *added, int64_t *count)
{
    json_object *codes = json_object_new_array();
    enum exit_code code = EXIT_DONE;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;

    while (code == EXIT_DONE && (length = getline(&line, &capacity, stdin)) > 0) {
        size_t n = strcspn(line, "\r\n");
        if (n == 0) {
            continue;
        }
        json_object_array_add(codes, json_object_new_string_len(line, (int)n));
        (*count)++;
        if (json_object_array_length(codes) == CODES_PER_REQUEST) {
            code = send_codes(invocation, queue, request, codes, added);
            codes = json_object_new_array();
        }
    }
    free(line);
    if (code == EXIT_DONE && json_object_array_length(codes) > 0) {
        return send_codes(invocation, queue, request, codes, added);
    }
    (void)json_object_put(codes);
    return code;
}

enum exit_code command_codes_add(const struct command *command, const struct invocation *invocation)
{
    const char *queue = id_argument(invocation, 0, "QUEUE");
    json_object *request = queue == NULL ? NULL : new_request(invocation);
    int64_t count = invocation->argument_count - 2;
    int64_t added = 0;
    enum exit_code code;

    (void)command;
    if (request == NULL) {
        return EXIT_USAGE;
    }
    if (count > 0) {
        json_object *codes = json_object_new_array();
        for (int i = 2; i < invocation->argument_count; i++) {
            json_object_array_add(codes, json_object_new_string(invocation->arguments[i]));
        }
        code = send_codes(invocation, queue, request, codes, &added);
    } else {
        code = send_lines(invocation, queue, request, &added, &count);
    }
    if (code == EXIT_DONE) {
        (void)printf(invocation->json ? "{\"added\":%" PRId64 ",\"known\":%" PRId64 "}\n"
                                      : "%" PRId64 " added, %" PRId64 " known before\n",
                     added, count - added);
    }
    return code;
}

enum exit_code command_codes_generate(const struct command *command,
                                      const struct invocation *invocation)
{
    const char *queue = id_argument(invocation, 0, "QUEUE");
    json_object *request = queue == NULL ? NULL : new_request(invocation);

    (void)command;
    if (request == NULL) {
        return EXIT_USAGE;
    }
    return codes_generate(invocation, codes_path(invocation, queue), request,
                          invocation->arguments[2]);
}

enum exit_code command_codes_list(const struct command *command,
                                  const struct invocation *invocation)
{
    const char *queue = id_argument(invocation, 0, "QUEUE");
    struct client_answer answer;
    struct table table;

    (void)command;
    if (queue == NULL) {
        return EXIT_USAGE;
    }
    if (!client_call(invocation, "GET", codes_path(invocation, queue), NULL, &answer)) {
        return EXIT_FAILED;
    }
    if (invocation->json) {
        print_json(answer.body);
        return EXIT_DONE;
    }
    json_object *kinds = json_object_object_get(answer.body, "kinds");
    table_init(&table, invocation->arena, "lrrr");
    table_add(&table, "KIND");
    table_add(&table, "CODES");
    table_add(&table, "USES");
    table_add(&table, "USED");
    for (size_t i = 0; i < json_object_array_length(kinds); i++) {
        json_object *kind = json_object_array_get_idx(kinds, i);
        table_add_field(&table, kind, "kind");
        table_add_field(&table, kind, "codes");
        table_add_field(&table, kind, "uses");
        table_add_field(&table, kind, "used");
    }
    table_print(&table);
    return EXIT_DONE;
}

enum exit_code command_codes_export(const struct command *command,
                                    const struct invocation *invocation)
{
    static const char *const FIELDS[] = {"at", "kind", "member", "codeHash"};
    const char *queue = id_argument(invocation, 0, "QUEUE");
    const char *after = "";

    (void)command;
    if (queue == NULL) {
        return EXIT_USAGE;
    }
    while (after != NULL) {
        struct client_answer answer;
        const char *path =
            arena_format(invocation->arena, "%s/uses%s%s", codes_path(invocation, queue),
                         after[0] != '\0' ? "?after=" : "", after);
        if (!client_call(invocation, "GET", path, NULL, &answer)) {
            return EXIT_FAILED;
        }
        json_object *uses = json_object_object_get(answer.body, "uses");
        for (size_t i = 0; i < json_object_array_length(uses); i++) {
            json_object *use = json_object_array_get_idx(uses, i);
            if (invocation->json) {
                print_json(use);
                continue;
            }
            for (size_t j = 0; j < sizeof(FIELDS) / sizeof(FIELDS[0]); j++) {
                (void)printf("%s%s", j > 0 ? " " : "",
                             json_object_get_string(json_object_object_get(use, FIELDS[j])));
            }
            (void)putchar('\n');
        }
        after = json_object_get_string(json_object_object_get(answer.body, "next"));
    }
    return EXIT_DONE;
}
