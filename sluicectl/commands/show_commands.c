#include <inttypes.h>
#include <stdio.h>

#include "lib/base/str.h"
#include "sluicectl/commands.h"
#include "sluicectl/commands/change_arguments.h"
#include "sluicectl/commands/seat_plan.h"
#include "sluicectl/output/table.h"
#include "sluicectl/server/client.h"

static const char *show_path(const struct invocation *invocation, const char *show,
                             const char *behind)
{
    return arena_format(invocation->arena, "/v1/admin/shows/%s%s", show, behind);
}

static enum exit_code print_fields(const struct invocation *invocation, json_object *object,
                                   const char *const *titles, const char *const *fields,
                                   const char *columns)
{
    struct table table;

    if (invocation->json) {
        print_json(object);
        return EXIT_DONE;
    }
    table_init(&table, invocation->arena, columns);
    for (size_t i = 0; titles[i] != NULL; i++) {
        table_add(&table, titles[i]);
    }
    for (size_t i = 0; fields[i] != NULL; i++) {
        table_add_field(&table, object, fields[i]);
    }
    table_print(&table);
    return EXIT_DONE;
}

static enum exit_code print_concert(const struct invocation *invocation, json_object *concert)
{
    static const char *const TITLES[] = {"CONCERT", "TITLE", "VENUE", "VERSION", NULL};
    static const char *const FIELDS[] = {"concert", "title", "venue", "version", NULL};

    return print_fields(invocation, concert, TITLES, FIELDS, "lllr");
}

static enum exit_code print_show(const struct invocation *invocation, json_object *show)
{
    static const char *const TITLES[] = {"SHOW",  "CONCERT", "STARTS",   "QUEUE",   "MAX", "HOLD",
                                         "SEATS", "TAKEN",   "CURRENCY", "VERSION", NULL};
    static const char *const FIELDS[] = {"show",
                                         "concert",
                                         "startsAt",
                                         "queue",
                                         "maxSeatsPerMember",
                                         "holdTtlSeconds",
                                         "seatCount",
                                         "taken",
                                         "currency",
                                         "version",
                                         NULL};

    return print_fields(invocation, show, TITLES, FIELDS, "llllrrrrlr");
}

enum exit_code command_concerts_get(const struct command *command,
                                    const struct invocation *invocation)
{
    const char *concert = id_argument(invocation, 0, "CONCERT");
    struct client_answer answer;

    (void)command;
    if (concert == NULL) {
        return EXIT_USAGE;
    }
    return client_call(invocation, "GET",
                       arena_format(invocation->arena, "/v1/admin/concerts/%s", concert), NULL,
                       &answer)
               ? print_concert(invocation, answer.body)
               : EXIT_FAILED;
}

enum exit_code command_concerts_put(const struct command *command,
                                    const struct invocation *invocation)
{
    static const struct change_field FIELDS[] = {{"title", "title", false},
                                                 {"venue", "venue", false},
                                                 {"description", "description", false}};
    const char *concert = id_argument(invocation, 0, "CONCERT");
    struct client_answer answer;

    (void)command;
    if (concert == NULL) {
        return EXIT_USAGE;
    }
    const char *path = arena_format(invocation->arena, "/v1/admin/concerts/%s", concert);
    enum exit_code code =
        change_put(invocation, path, path, FIELDS, sizeof(FIELDS) / sizeof(FIELDS[0]), &answer);
    return code == EXIT_DONE ? print_concert(invocation, answer.body) : code;
}

enum exit_code command_shows_get(const struct command *command, const struct invocation *invocation)
{
    const char *show = id_argument(invocation, 0, "SHOW");
    struct client_answer answer;

    (void)command;
    if (show == NULL) {
        return EXIT_USAGE;
    }
    return client_call(invocation, "GET", show_path(invocation, show, "?seats=false"), NULL,
                       &answer)
               ? print_show(invocation, answer.body)
               : EXIT_FAILED;
}

enum exit_code command_shows_put(const struct command *command, const struct invocation *invocation)
{
    static const struct change_field FIELDS[] = {
        {"concert", "concert", false},    {"starts", "startsAt", false},
        {"queue", "queue", false},        {"max", "maxSeatsPerMember", true},
        {"hold", "holdTtlSeconds", true},
    };
    const char *show = id_argument(invocation, 0, "SHOW");
    struct client_answer answer;

    (void)command;
    if (show == NULL) {
        return EXIT_USAGE;
    }
    enum exit_code code = change_put(invocation, show_path(invocation, show, "?seats=false"),
                                     show_path(invocation, show, ""), FIELDS,
                                     sizeof(FIELDS) / sizeof(FIELDS[0]), &answer);
    return code == EXIT_DONE ? print_show(invocation, answer.body) : code;
}

/** Stores this plan for an existing show. */
static enum exit_code put_plan(const struct invocation *invocation, const char *show,
                               const char *field, json_object *plan)
{
    struct client_answer answer;

    if (!client_call(invocation, "GET", show_path(invocation, show, "?seats=false"), NULL,
                     &answer)) {
        (void)json_object_put(plan);
        return EXIT_FAILED;
    }
    json_object_object_add(answer.body, field, plan);
    return client_call(invocation, "PUT", show_path(invocation, show, ""), answer.body, &answer)
               ? print_show(invocation, answer.body)
               : EXIT_FAILED;
}

static json_object *price_json(int64_t amount, struct str currency)
{
    json_object *price = json_object_new_object();

    json_object_object_add(price, "amount", json_object_new_int64(amount));
    json_object_object_add(
        price, "currency",
        json_object_new_string_len(currency.n > 0 ? currency.p : "", (int)currency.n));
    return price;
}

/** Parses NAME:ROWS:SEATS:PRICE:CURRENCY; NULL, with a message, if it is malformed. */
static json_object *section_json(const char *argument)
{
    struct str parts[5];
    struct str rest = str_of(argument);
    int64_t rows;
    int64_t seats;
    int64_t price;

    for (size_t i = 0; i < 5; i++) {
        (void)str_split(rest, ':', &parts[i], &rest);
    }
    if (rest.n > 0 || parts[4].n == 0 || !str_to_int64(parts[1], 1, INT32_MAX, &rows) ||
        !str_to_int64(parts[2], 1, INT32_MAX, &seats) ||
        !str_to_int64(parts[3], 0, INT64_MAX, &price)) {
        (void)misused(
            "'%s' does not have the form NAME:ROWS:SEATS:PRICE:CURRENCY, like A:10:20:15000:KRW",
            argument);
        return NULL;
    }
    json_object *section = json_object_new_object();
    json_object_object_add(
        section, "name",
        json_object_new_string_len(parts[0].n > 0 ? parts[0].p : "", (int)parts[0].n));
    json_object_object_add(section, "rows", json_object_new_int64(rows));
    json_object_object_add(section, "seatsPerRow", json_object_new_int64(seats));
    json_object_object_add(section, "price", price_json(price, parts[4]));
    return section;
}

enum exit_code command_shows_generate(const struct command *command,
                                      const struct invocation *invocation)
{
    const char *show = id_argument(invocation, 0, "SHOW");
    json_object *sections = json_object_new_array();

    (void)command;
    for (int i = 1; i < invocation->argument_count; i++) {
        json_object *section = show == NULL ? NULL : section_json(invocation->arguments[i]);
        if (section == NULL) {
            (void)json_object_put(sections);
            return EXIT_USAGE;
        }
        json_object_array_add(sections, section);
    }
    json_object *plan = json_object_new_object();
    json_object_object_add(plan, "sections", sections);
    return put_plan(invocation, show, "plan", plan);
}

enum exit_code command_shows_import(const struct command *command,
                                    const struct invocation *invocation)
{
    const char *show = id_argument(invocation, 0, "SHOW");

    (void)command;
    if (show == NULL) {
        return EXIT_USAGE;
    }
    json_object *seats = seat_plan_read(invocation, stdin);
    return seats == NULL ? EXIT_FAILED : put_plan(invocation, show, "seats", seats);
}

enum exit_code command_shows_export(const struct command *command,
                                    const struct invocation *invocation)
{
    const char *show = id_argument(invocation, 0, "SHOW");
    struct client_answer answer;

    (void)command;
    if (show == NULL) {
        return EXIT_USAGE;
    }
    if (!client_call(invocation, "GET", show_path(invocation, show, ""), NULL, &answer)) {
        return EXIT_FAILED;
    }
    seat_plan_print(invocation, json_object_object_get(answer.body, "seats"));
    return EXIT_DONE;
}
