#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/admission/lottery/lottery.h"
#include "sluicectl/commands.h"
#include "sluicectl/output/table.h"
#include "sluicectl/server/client.h"

static struct str field(json_object *document, const char *name)
{
    json_object *value = json_object_object_get(document, name);

    return json_object_is_type(value, json_type_string) ? str_of(json_object_get_string(value))
                                                        : str_sized(NULL, 0);
}

/** The public document; NULL, with a message, if there is none. */
static json_object *fetch(const struct invocation *invocation)
{
    const char *queue = id_argument(invocation, 0, "QUEUE");
    struct client_answer answer;

    if (queue == NULL ||
        !client_call(invocation, "GET",
                     arena_format(invocation->arena, "/v1/queues/%s/lottery", queue), NULL,
                     &answer)) {
        return NULL;
    }
    return answer.body;
}

/** The draw; NULL, with a message, if it was not held. */
static const struct lottery *draw_of(const struct invocation *invocation, json_object *document)
{
    if (!str_equal(field(document, "phase"), STR("DRAWN"))) {
        (void)failed("the draw has not been held yet");
        return NULL;
    }
    const struct lottery *lottery =
        lottery_read(invocation->arena, field(document, "seed"), field(document, "ranges"));
    if (lottery == NULL) {
        (void)failed("the ranges '%.*s' are malformed", STR_ARG(field(document, "ranges")));
    }
    return lottery;
}

enum exit_code command_lottery_show(const struct command *command,
                                    const struct invocation *invocation)
{
    static const char *const FIELDS[] = {"queue",  "phase", "commitment", "entrants", "opensAt",
                                         "secret", "seed",  "listHash",   "ranges"};
    json_object *document = fetch(invocation);
    struct table table;

    (void)command;
    if (document == NULL) {
        return EXIT_FAILED;
    }
    if (invocation->json) {
        print_json(document);
        return EXIT_DONE;
    }
    table_init(&table, invocation->arena, "ll");
    for (size_t i = 0; i < sizeof(FIELDS) / sizeof(FIELDS[0]); i++) {
        table_add(&table, FIELDS[i]);
        table_add_field(&table, document, FIELDS[i]);
    }
    table_print(&table);
    return EXIT_DONE;
}

static enum exit_code check(const struct invocation *invocation, bool good, const char *what,
                            const char *otherwise)
{
    if (invocation->json) {
        json_object *line = scratch_object(invocation);
        json_object_object_add(line, "ok", json_object_new_boolean(good));
        json_object_object_add(line, "check", json_object_new_string(good ? what : otherwise));
        print_json(line);
        return good ? EXIT_DONE : EXIT_FAILED;
    }
    if (good) {
        (void)printf("ok      %s\n", what);
        return EXIT_DONE;
    }
    (void)printf("WRONG   %s\n", otherwise);
    return EXIT_FAILED;
}

static enum exit_code check_commitment(const struct invocation *invocation, json_object *document)
{
    char commitment[LOTTERY_COMMITMENT_TEXT + 1];
    struct str promised = invocation->commitment[0] != '\0' ? str_of(invocation->commitment)
                                                            : field(document, "commitment");

    lottery_commitment(field(document, "secret"), commitment);
    return check(invocation, str_equal(str_of(commitment), promised),
                 invocation->commitment[0] != '\0'
                     ? "the secret matches the given commitment"
                     : "the secret matches the commitment (with --commitment: the one that you "
                       "noted beforehand)",
                 "the secret does not match the commitment");
}

static enum exit_code check_seed(const struct invocation *invocation, json_object *document)
{
    char seed[LOTTERY_SEED_TEXT + 1];

    lottery_seed(invocation->arena, field(document, "secret"), field(document, "queue"),
                 json_object_get_int64(json_object_object_get(document, "epoch")),
                 field(document, "listHash"), field(document, "ranges"), seed);
    return check(invocation, str_equal(str_of(seed), field(document, "seed")),
                 "the seed follows from the secret and the closed list",
                 "the seed does not follow from the secret and the closed list");
}

/** Computes the list's hash from FILE, with a line "number member" each. */
static enum exit_code check_list(const struct invocation *invocation, json_object *document)
{
    char hash[LOTTERY_LIST_HASH_TEXT + 1] = "";
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    FILE *file = fopen(invocation->members, "re");

    if (file == NULL) {
        return failed("%s cannot be read: %s", invocation->members, strerror(errno));
    }
    struct arena *scratch = arena_new();
    while ((length = getline(&line, &capacity, file)) > 0) {
        size_t n = (size_t)length;
        while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r')) {
            n--;
        }
        lottery_list_add(scratch, str_sized(line, n), hash);
        arena_reset(scratch);
    }
    arena_free(scratch);
    free(line);
    (void)fclose(file);
    return check(invocation, str_equal(str_of(hash), field(document, "listHash")),
                 "the list is the one from which the seed was computed",
                 "the list is not the one from which the seed was computed");
}

/** Computes every place, and checks that each belongs to one number. */
static enum exit_code check_places(const struct invocation *invocation,
                                   const struct lottery *lottery)
{
    unsigned char *taken = calloc((size_t)lottery->count / 8 + 1, 1);
    bool good = taken != NULL;

    for (size_t i = 0; i < lottery->range_count && good; i++) {
        for (int64_t number = lottery->ranges[i].from; number <= lottery->ranges[i].to; number++) {
            int64_t place = lottery_place(lottery, number);
            unsigned char bit = (unsigned char)(1U << (place % 8));
            good =
                good && (taken[place / 8] & bit) == 0 && lottery_number(lottery, place) == number;
            taken[place / 8] |= bit;
        }
    }
    free(taken);
    if (!invocation->json) {
        (void)printf("        %" PRId64 " numbers, as many places\n", lottery->count);
    }
    return check(invocation, good, "every number has a place of its own",
                 "two numbers share a place");
}

enum exit_code command_lottery_verify(const struct command *command,
                                      const struct invocation *invocation)
{
    json_object *document = fetch(invocation);
    const struct lottery *lottery = document == NULL ? NULL : draw_of(invocation, document);

    (void)command;
    if (lottery == NULL) {
        return EXIT_FAILED;
    }
    enum exit_code codes[] = {
        check_commitment(invocation, document),
        check_seed(invocation, document),
        invocation->members[0] != '\0' ? check_list(invocation, document) : EXIT_DONE,
        check_places(invocation, lottery),
    };
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (codes[i] != EXIT_DONE) {
            return codes[i];
        }
    }
    return EXIT_DONE;
}

static void print_place(const struct invocation *invocation, int64_t number, int64_t place)
{
    (void)printf(invocation->json ? "{\"number\":%" PRId64 ",\"place\":%" PRId64 "}\n"
                                  : "%" PRId64 " %" PRId64 "\n",
                 number, place + 1);
}

enum exit_code command_lottery_places(const struct command *command,
                                      const struct invocation *invocation)
{
    json_object *document = fetch(invocation);
    const struct lottery *lottery = document == NULL ? NULL : draw_of(invocation, document);

    (void)command;
    if (lottery == NULL) {
        return EXIT_FAILED;
    }
    for (int i = 1; i < invocation->argument_count; i++) {
        int64_t number = 0;
        if (!str_to_int64(str_of(invocation->arguments[i]), 1, INT64_MAX, &number)) {
            return misused("'%s' is not a number", invocation->arguments[i]);
        }
        int64_t place = lottery_place(lottery, number);
        if (place < 0) {
            return failed("%" PRId64 " was not in the draw", number);
        }
        print_place(invocation, number, place);
    }
    for (int64_t place = 0; place < lottery->count && invocation->argument_count == 1; place++) {
        print_place(invocation, lottery_number(lottery, place), place);
    }
    return EXIT_DONE;
}

/** `line` is "number member". */
static void print_entrant(const struct invocation *invocation, const char *line)
{
    struct str number;
    struct str member;
    int64_t value = 0;

    if (!invocation->json) {
        (void)puts(line);
        return;
    }
    (void)str_split(str_of(line), ' ', &number, &member);
    (void)str_to_int64(number, 0, INT64_MAX, &value);
    json_object *entrant = json_object_new_object();
    json_object_object_add(entrant, "number", json_object_new_int64(value));
    json_object_object_add(entrant, "member",
                           json_object_new_string(arena_copy(invocation->arena, member)));
    print_json(entrant);
    (void)json_object_put(entrant);
}

enum exit_code command_lottery_entrants(const struct command *command,
                                        const struct invocation *invocation)
{
    const char *queue = id_argument(invocation, 0, "QUEUE");
    json_object *next = NULL;
    int64_t after = 0;

    (void)command;
    if (queue == NULL) {
        return EXIT_USAGE;
    }
    do {
        struct client_answer answer;
        const char *path = arena_format(
            invocation->arena, "/v1/admin/queues/%s/lottery/entrants?after=%" PRId64, queue, after);
        if (!client_call(invocation, "GET", path, NULL, &answer)) {
            return EXIT_FAILED;
        }
        json_object *entrants = json_object_object_get(answer.body, "entrants");
        for (size_t i = 0; i < json_object_array_length(entrants); i++) {
            print_entrant(invocation,
                          json_object_get_string(json_object_array_get_idx(entrants, i)));
        }
        next = json_object_object_get(answer.body, "next");
        after = json_object_get_int64(next);
    } while (next != NULL);
    return EXIT_DONE;
}
