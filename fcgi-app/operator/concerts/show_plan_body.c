#include "fcgi-app/operator/concerts/show_plan_body.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/identifier.h"

/** A plan being built. */
struct making {
    const struct body_reader *reader;
    struct plan_seat *seats;
    const char **pointers; /* the origin of each seat */
    size_t count;
    struct str currency;
};

struct named {
    struct str id;
    size_t position;
};

static int compare_named(const void *left, const void *right)
{
    const struct named *a = left;
    const struct named *b = right;
    size_t shorter = a->id.n < b->id.n ? a->id.n : b->id.n;
    int order = memcmp(a->id.p, b->id.p, shorter);

    if (order == 0 && a->id.n != b->id.n) {
        order = a->id.n < b->id.n ? -1 : 1;
    }
    if (order == 0) {
        order = a->position < b->position ? -1 : 1;
    }
    return order;
}

/* Checks that each id is unique. */
static bool all_different(const struct making *making)
{
    struct named *names =
        arena_alloc(making->reader->request->arena, (making->count + 1) * sizeof(*names));

    for (size_t i = 0; i < making->count; i++) {
        names[i] = (struct named){.id = making->seats[i].id, .position = i};
    }
    qsort(names, making->count, sizeof(*names), compare_named);
    for (size_t i = 1; i < making->count; i++) {
        if (str_equal(names[i - 1].id, names[i].id)) {
            return body_refuse(making->reader, making->pointers[names[i].position],
                               "The seat %.*s appears twice.", STR_ARG(names[i].id));
        }
    }
    return true;
}

static bool read_price(struct making *making, json_object *value, const char *pointer,
                       int64_t *price)
{
    struct str currency;

    if (!body_read_price(making->reader, value, pointer, SEAT_PRICE_MAX, price, &currency)) {
        return false;
    }
    if (making->currency.n == 0) {
        making->currency = currency;
    }
    return str_equal(making->currency, currency) ||
           body_refuse(making->reader,
                       arena_format(making->reader->request->arena, "%s/currency", pointer),
                       "All seats of a show must have the same currency; others are in %.*s.",
                       STR_ARG(making->currency));
}

static bool read_seat(struct making *making, json_object *value, const char *pointer)
{
    static const char *const FIELDS[] = {"id", "section", "row", "number", "price", NULL};
    const struct body_reader *reader = making->reader;
    struct arena *arena = reader->request->arena;
    struct plan_seat *seat = &making->seats[making->count];

    making->pointers[making->count++] = pointer;
    if (!json_object_is_type(value, json_type_object)) {
        return body_refuse(reader, pointer, "A seat must be an object with id and price.");
    }
    seat->id = body_text(json_object_object_get(value, "id"));
    if (!identifier_is_seat(seat->id)) {
        return body_refuse(reader, arena_format(arena, "%s/id", pointer),
                           "id must be 1 to 32 of A-Z, a-z, 0-9, dot, underscore and hyphen.");
    }
    return body_only_known(reader, value, pointer, FIELDS) &&
           body_read_label(reader, json_object_object_get(value, "section"),
                           arena_format(arena, "%s/section", pointer), SEAT_LABEL_MAX,
                           &seat->section) &&
           body_read_label(reader, json_object_object_get(value, "row"),
                           arena_format(arena, "%s/row", pointer), SEAT_LABEL_MAX, &seat->row) &&
           body_read_label(reader, json_object_object_get(value, "number"),
                           arena_format(arena, "%s/number", pointer), SEAT_LABEL_MAX,
                           &seat->number) &&
           read_price(making, json_object_object_get(value, "price"),
                      arena_format(arena, "%s/price", pointer), &seat->price);
}

static bool start(struct making *making, size_t count, const char *pointer)
{
    struct arena *arena = making->reader->request->arena;

    if (making->count + count > SHOW_SEATS_MAX) {
        return body_refuse(making->reader, pointer, "A show has at most %d seats.", SHOW_SEATS_MAX);
    }
    if (making->seats == NULL) {
        making->seats = arena_alloc(arena, (SHOW_SEATS_MAX + 1) * sizeof(*making->seats));
        making->pointers = arena_alloc(arena, (SHOW_SEATS_MAX + 1) * sizeof(*making->pointers));
    }
    return true;
}

static bool read_seats(struct making *making, json_object *list)
{
    struct arena *arena = making->reader->request->arena;

    if (!json_object_is_type(list, json_type_array)) {
        return body_refuse(making->reader, "/seats", "seats must be a list of seats.");
    }
    size_t count = json_object_array_length(list);
    if (!start(making, count, "/seats")) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!read_seat(making, json_object_array_get_idx(list, i),
                       arena_format(arena, "/seats/%zu", i))) {
            return false;
        }
    }
    return true;
}

/* section-row-number, or section-number if it has one row only. */
static bool make_section(struct making *making, struct str name, int64_t rows, int64_t in_row,
                         int64_t price, const char *pointer)
{
    struct arena *arena = making->reader->request->arena;

    for (int64_t row = 1; row <= rows; row++) {
        struct str row_text = rows == 1 ? STR("") : str_of(arena_int(arena, row));
        for (int64_t n = 1; n <= in_row; n++) {
            struct plan_seat *seat = &making->seats[making->count];
            making->pointers[making->count++] = pointer;
            seat->section = name;
            seat->row = row_text;
            seat->number = str_of(arena_int(arena, n));
            seat->price = price;
            seat->id =
                str_of(arena_format(arena, "%.*s-%.*s%s%.*s", STR_ARG(name), STR_ARG(row_text),
                                    rows == 1 ? "" : "-", STR_ARG(seat->number)));
            if (!identifier_is_seat(seat->id)) {
                return body_refuse(making->reader, pointer,
                                   "The seat's id %.*s would be longer than 32 characters.",
                                   STR_ARG(seat->id));
            }
        }
    }
    return true;
}

static bool read_section(struct making *making, json_object *value, const char *pointer)
{
    static const char *const FIELDS[] = {"name", "rows", "seatsPerRow", "price", NULL};
    const struct body_reader *reader = making->reader;
    struct arena *arena = reader->request->arena;
    const char *name_pointer = arena_format(arena, "%s/name", pointer);
    int64_t rows;
    int64_t in_row;
    int64_t price;

    if (!json_object_is_type(value, json_type_object)) {
        return body_refuse(reader, pointer,
                           "A section must be an object with name, rows, seatsPerRow and price.");
    }
    struct str name = body_text(json_object_object_get(value, "name"));
    if (!identifier_is_seat(name)) {
        return body_refuse(reader, name_pointer,
                           "name must be 1 to 32 of A-Z, a-z, 0-9, dot, underscore and hyphen, as "
                           "ids begin with it. For other names send the seats one by one.");
    }
    return body_only_known(reader, value, pointer, FIELDS) &&
           body_read_whole(reader, json_object_object_get(value, "rows"),
                           arena_format(arena, "%s/rows", pointer), 1, SHOW_SEATS_MAX, 0, &rows) &&
           body_read_whole(reader, json_object_object_get(value, "seatsPerRow"),
                           arena_format(arena, "%s/seatsPerRow", pointer), 1, SHOW_SEATS_MAX, 0,
                           &in_row) &&
           read_price(making, json_object_object_get(value, "price"),
                      arena_format(arena, "%s/price", pointer), &price) &&
           start(making, (size_t)(rows * in_row), pointer) &&
           make_section(making, name, rows, in_row, price, name_pointer);
}

static bool read_plan(struct making *making, json_object *plan)
{
    static const char *const FIELDS[] = {"sections", NULL};
    struct arena *arena = making->reader->request->arena;

    json_object *sections = json_object_object_get(plan, "sections");
    if (!json_object_is_type(plan, json_type_object) ||
        !json_object_is_type(sections, json_type_array)) {
        return body_refuse(making->reader, "/plan", "plan must be {\"sections\": [ … ]}.");
    }
    if (!body_only_known(making->reader, plan, "/plan", FIELDS) ||
        !start(making, json_object_array_length(sections), "/plan/sections")) {
        return false;
    }
    for (size_t i = 0; i < json_object_array_length(sections); i++) {
        if (!read_section(making, json_object_array_get_idx(sections, i),
                          arena_format(arena, "/plan/sections/%zu", i))) {
            return false;
        }
    }
    return true;
}

bool show_plan_body_read(const struct body_reader *reader, json_object *body,
                         struct show_plan_body *plan)
{
    struct making making = {.reader = reader};
    json_object *seats = json_object_object_get(body, "seats");
    json_object *sections = json_object_object_get(body, "plan");

    *plan = (struct show_plan_body){0};
    if (seats != NULL && sections != NULL) {
        return body_refuse(reader, "/plan", "Send either seats or plan.");
    }
    if (seats == NULL && sections == NULL) {
        return true;
    }
    if (!(seats != NULL ? read_seats(&making, seats) : read_plan(&making, sections)) ||
        !all_different(&making)) {
        return false;
    }
    *plan = (struct show_plan_body){
        .seats = making.seats, .count = making.count, .currency = making.currency};
    return true;
}
