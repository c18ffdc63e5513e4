#include "sluicectl/sale/sale_compare.h"

#include <string.h>

#include "lib/base/clock.h"

/* As many as a show may have: the server refuses a larger plan. */
enum { SEATS_MOST = 50000 };

static void release_json(void *object)
{
    (void)json_object_put(object);
}

static bool is_number(json_object *value)
{
    return json_object_is_type(value, json_type_int) ||
           json_object_is_type(value, json_type_double);
}

static bool same_text(json_object *wanted, json_object *present)
{
    struct str a =
        str_sized(json_object_get_string(wanted), (size_t)json_object_get_string_len(wanted));
    struct str b =
        str_sized(json_object_get_string(present), (size_t)json_object_get_string_len(present));
    int64_t moment;
    int64_t other;

    return str_equal(a, b) ||
           (rfc3339_parse(a, &moment) && rfc3339_parse(b, &other) && moment == other);
}

static bool same_array(json_object *wanted, json_object *present)
{
    size_t count = json_object_array_length(wanted);

    if (json_object_array_length(present) != count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!sale_same(json_object_array_get_idx(wanted, i),
                       json_object_array_get_idx(present, i))) {
            return false;
        }
    }
    return true;
}

static bool same_object(json_object *wanted, json_object *present)
{
    if (json_object_object_length(wanted) != json_object_object_length(present)) {
        return false;
    }
    json_object_object_foreach(wanted, name, value)
    {
        json_object *other = NULL;
        if (!json_object_object_get_ex(present, name, &other) || !sale_same(value, other)) {
            return false;
        }
    }
    return true;
}

bool sale_same(json_object *wanted, json_object *present)
{
    if (is_number(wanted) && is_number(present)) {
        double difference = json_object_get_double(wanted) - json_object_get_double(present);
        return difference > -1e-9 && difference < 1e-9;
    }
    if (json_object_get_type(wanted) != json_object_get_type(present)) {
        return false;
    }
    switch (json_object_get_type(wanted)) {
    case json_type_null:
        return true;
    case json_type_string:
        return same_text(wanted, present);
    case json_type_array:
        return same_array(wanted, present);
    case json_type_object:
        return same_object(wanted, present);
    default:
        return json_object_equal(wanted, present) == 1;
    }
}

static json_object *seat_of(const char *id, const char *section, const char *row,
                            const char *number, json_object *price)
{
    json_object *seat = json_object_new_object();

    json_object_object_add(seat, "id", json_object_new_string(id));
    json_object_object_add(seat, "section", json_object_new_string(section));
    json_object_object_add(seat, "row", json_object_new_string(row));
    json_object_object_add(seat, "number", json_object_new_string(number));
    json_object_object_add(seat, "price", json_object_get(price));
    return seat;
}

/** A label may be written as a number. */
static const char *label(json_object *seat, const char *name)
{
    json_object *value = json_object_object_get(seat, name);

    return value == NULL ? "" : json_object_get_string(value);
}

static void add_section(struct arena *arena, json_object *seats, json_object *section)
{
    const char *name = label(section, "name");
    int64_t rows = json_object_get_int64(json_object_object_get(section, "rows"));
    int64_t in_row = json_object_get_int64(json_object_object_get(section, "seatsPerRow"));
    json_object *price = json_object_object_get(section, "price");

    for (int64_t row = 1; row <= rows && in_row >= 1; row++) {
        const char *row_text = rows == 1 ? "" : arena_int(arena, row);
        for (int64_t n = 1; n <= in_row && json_object_array_length(seats) < SEATS_MOST; n++) {
            const char *number = arena_int(arena, n);
            const char *id =
                arena_format(arena, "%s-%s%s%s", name, row_text, rows == 1 ? "" : "-", number);
            json_object_array_add(seats, seat_of(id, name, row_text, number, price));
        }
        if (json_object_array_length(seats) >= SEATS_MOST) {
            return;
        }
    }
}

json_object *sale_seats(struct arena *arena, json_object *seats, json_object *plan)
{
    json_object *all = json_object_new_array();
    json_object *sections = json_object_object_get(plan, "sections");

    arena_on_reset(arena, release_json, all);
    if (json_object_is_type(seats, json_type_array)) {
        for (size_t i = 0; i < json_object_array_length(seats); i++) {
            json_object *seat = json_object_array_get_idx(seats, i);
            json_object_array_add(all, seat_of(label(seat, "id"), label(seat, "section"),
                                               label(seat, "row"), label(seat, "number"),
                                               json_object_object_get(seat, "price")));
        }
    }
    if (json_object_is_type(sections, json_type_array)) {
        for (size_t i = 0; i < json_object_array_length(sections); i++) {
            add_section(arena, all, json_object_array_get_idx(sections, i));
        }
    }
    return all;
}
