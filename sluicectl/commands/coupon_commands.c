#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sluicectl/commands.h"
#include "sluicectl/commands/code_generation.h"
#include "sluicectl/commands/csv.h"
#include "sluicectl/output/table.h"
#include "sluicectl/server/client.h"

static const char *event_path(const struct invocation *invocation, const char *event,
                              const char *below)
{
    return arena_format(invocation->arena, "/v1/admin/coupon-events/%s%s", event, below);
}

static enum exit_code print_event(const struct invocation *invocation, json_object *event)
{
    static const char *const FIELDS[] = {"event",   "name",    "queue",  "opensAt", "endsAt",
                                         "captcha", "coupons", "issued", "left"};
    static const char *const TITLES[] = {"EVENT",   "NAME",    "QUEUE",  "OPENS", "ENDS",
                                         "CAPTCHA", "COUPONS", "ISSUED", "LEFT"};
    struct table table;

    if (invocation->json) {
        print_json(event);
        return EXIT_DONE;
    }
    table_init(&table, invocation->arena, "llllllrrr");
    for (size_t i = 0; i < sizeof(TITLES) / sizeof(TITLES[0]); i++) {
        table_add(&table, TITLES[i]);
    }
    for (size_t i = 0; i < sizeof(FIELDS) / sizeof(FIELDS[0]); i++) {
        table_add_field(&table, event, FIELDS[i]);
    }
    table_print(&table);
    return EXIT_DONE;
}

enum exit_code command_coupons_get(const struct command *command,
                                   const struct invocation *invocation)
{
    const char *event = id_argument(invocation, 0, "EVENT");
    struct client_answer answer;

    (void)command;
    if (event == NULL) {
        return EXIT_USAGE;
    }
    return client_call(invocation, "GET", event_path(invocation, event, ""), NULL, &answer)
               ? print_event(invocation, answer.body)
               : EXIT_FAILED;
}

/** Puts one `name=value` into the event. */
static bool set_field(json_object *event, const char *argument)
{
    static const struct {
        const char *word;
        const char *field;
        bool may_be_none;
    } FIELDS[] = {{"name", "name", false},
                  {"queue", "queue", false},
                  {"opens", "opensAt", true},
                  {"ends", "endsAt", true},
                  {"captcha", "captcha", false}};
    struct str name;
    struct str text;

    if (!str_split(str_of(argument), '=', &name, &text)) {
        (void)misused("'%s' does not have the form name=value", argument);
        return false;
    }
    for (size_t i = 0; i < sizeof(FIELDS) / sizeof(FIELDS[0]); i++) {
        if (str_equal(name, str_of(FIELDS[i].word))) {
            bool none = FIELDS[i].may_be_none && text.n == 0;
            json_object_object_add(
                event, FIELDS[i].field,
                none ? NULL : json_object_new_string_len(text.n > 0 ? text.p : "", (int)text.n));
            return true;
        }
    }
    (void)misused("an event has no '%.*s', only name, queue, opens, ends and captcha",
                  STR_ARG(name));
    return false;
}

enum exit_code command_coupons_put(const struct command *command,
                                   const struct invocation *invocation)
{
    const char *event = id_argument(invocation, 0, "EVENT");
    json_object *changed = scratch_object(invocation);
    struct client_answer answer;

    (void)command;
    /* The command line is checked before any request is sent. */
    for (int i = 1; i < invocation->argument_count; i++) {
        if (event == NULL || !set_field(changed, invocation->arguments[i])) {
            return EXIT_USAGE;
        }
    }
    const char *path = event_path(invocation, event, "");
    if (!client_request(invocation, "GET", path, NULL, &answer)) {
        return EXIT_FAILED;
    }
    if (answer.status != 200 && answer.status != 404) {
        return client_refused(invocation, &answer);
    }
    json_object *wanted = answer.status == 200 ? answer.body : scratch_object(invocation);
    for (int i = 1; i < invocation->argument_count; i++) {
        (void)set_field(wanted, invocation->arguments[i]);
    }
    return client_call(invocation, "PUT", path, wanted, &answer)
               ? print_event(invocation, answer.body)
               : EXIT_FAILED;
}

/** The progress of an upload. */
struct upload {
    const char *path;
    json_object *codes; /* not sent yet */
    int64_t added;
    int64_t known;
};

static enum exit_code send_codes(const struct invocation *invocation, struct upload *upload)
{
    json_object *request = scratch_object(invocation);
    struct client_answer answer;

    json_object_object_add(request, "codes", upload->codes);
    upload->codes = json_object_new_array();
    if (!client_call(invocation, "POST", upload->path, request, &answer)) {
        return EXIT_FAILED;
    }
    upload->added += json_object_get_int64(json_object_object_get(answer.body, "added"));
    upload->known += json_object_get_int64(json_object_object_get(answer.body, "known"));
    json_object *known = json_object_object_get(answer.body, "knownCodes");
    for (size_t i = 0; i < json_object_array_length(known); i++) {
        (void)fprintf(stderr, "there before: %s\n",
                      json_object_get_string(json_object_array_get_idx(known, i)));
    }
    return EXIT_DONE;
}

enum exit_code command_coupons_upload(const struct command *command,
                                      const struct invocation *invocation)
{
    const char *event = id_argument(invocation, 0, "EVENT");
    struct upload upload = {.codes = json_object_new_array()};
    enum exit_code code = event == NULL ? EXIT_USAGE : EXIT_DONE;
    char *line = NULL;
    size_t capacity = 0;

    (void)command;
    upload.path = event == NULL ? "" : event_path(invocation, event, "/codes");
    while (code == EXIT_DONE && getline(&line, &capacity, stdin) > 0) {
        size_t n = strcspn(line, "\r\n");
        if (n == 0) {
            continue;
        }
        json_object_array_add(upload.codes, json_object_new_string_len(line, (int)n));
        if (json_object_array_length(upload.codes) == CODES_PER_REQUEST) {
            code = send_codes(invocation, &upload);
        }
    }
    free(line);
    if (code == EXIT_DONE && json_object_array_length(upload.codes) > 0) {
        code = send_codes(invocation, &upload);
    }
    (void)json_object_put(upload.codes);
    if (upload.added + upload.known > 0 || code == EXIT_DONE) {
        (void)printf(invocation->json ? "{\"added\":%" PRId64 ",\"known\":%" PRId64 "}\n"
                                      : "%" PRId64 " added, %" PRId64 " there before\n",
                     upload.added, upload.known);
    }
    return code;
}

enum exit_code command_coupons_generate(const struct command *command,
                                        const struct invocation *invocation)
{
    const char *event = id_argument(invocation, 0, "EVENT");

    (void)command;
    if (event == NULL) {
        return EXIT_USAGE;
    }
    return codes_generate(invocation, event_path(invocation, event, "/codes"),
                          scratch_object(invocation), invocation->arguments[1]);
}

static void print_owner(const struct invocation *invocation, json_object *coupon)
{
    enum { COUNT = 5 };
    static const char *const FIELDS[COUNT] = {"member", "code", "issuedAt", "epoch", "number"};
    const char *fields[COUNT];

    if (invocation->json) {
        print_json(coupon);
        return;
    }
    for (size_t i = 0; i < COUNT; i++) {
        fields[i] = json_object_get_string(json_object_object_get(coupon, FIELDS[i]));
    }
    csv_print(fields, COUNT);
}

enum exit_code command_coupons_export(const struct command *command,
                                      const struct invocation *invocation)
{
    const char *event = id_argument(invocation, 0, "EVENT");
    const char *after = "";

    (void)command;
    if (event == NULL) {
        return EXIT_USAGE;
    }
    while (after != NULL) {
        struct client_answer answer;
        /* Ids of members and visitors need no encoding. */
        const char *path =
            arena_format(invocation->arena, "%s%s%s", event_path(invocation, event, "/coupons"),
                         after[0] != '\0' ? "?after=" : "", after);
        if (!client_call(invocation, "GET", path, NULL, &answer)) {
            return EXIT_FAILED;
        }
        if (after[0] == '\0' && !invocation->json) {
            (void)fputs("member,code,issuedAt,epoch,number\r\n", stdout);
        }
        json_object *coupons = json_object_object_get(answer.body, "coupons");
        for (size_t i = 0; i < json_object_array_length(coupons); i++) {
            print_owner(invocation, json_object_array_get_idx(coupons, i));
        }
        after = json_object_get_string(json_object_object_get(answer.body, "next"));
    }
    return EXIT_DONE;
}
