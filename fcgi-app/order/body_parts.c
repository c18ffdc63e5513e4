#include "fcgi-app/order/body_parts.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/base/identifier.h"

enum { FAULT_NAME_MAX = 64 };

struct named_seat {
    struct str seat;
    size_t position;
};

bool body_fail(struct body_fault *fault, const char *pointer, const char *why)
{
    fault->pointer = pointer;
    fault->why = why;
    return false;
}

/* A member's name as a segment of a JSON pointer. */
static const char *escape(struct arena *arena, const char *name)
{
    struct buffer out;

    buffer_init(&out, FAULT_NAME_MAX * 2);
    for (size_t i = 0; i < FAULT_NAME_MAX && name[i] != '\0'; i++) {
        if (name[i] == '~' || name[i] == '/') {
            buffer_add_char(&out, '~');
            buffer_add_char(&out, name[i] == '~' ? '0' : '1');
        } else {
            buffer_add_char(&out, name[i]);
        }
    }
    const char *copy = arena_copy(arena, buffer_text(&out));
    buffer_free(&out);
    return copy;
}

static bool is_named(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(name, *names) != 0) {
        names++;
    }
    return *names != NULL;
}

bool body_only_members(struct arena *arena, json_object *object, const char *at,
                       const char *const *names, struct body_fault *fault)
{
    json_object_object_foreach(object, name, value)
    {
        (void)value;
        if (!is_named(name, names)) {
            return body_fail(fault, arena_format(arena, "%s/%s", at, escape(arena, name)),
                             "There is no such field.");
        }
    }
    return true;
}

static bool read_text(json_object *value, struct str *text)
{
    if (!json_object_is_type(value, json_type_string)) {
        return false;
    }
    *text = str_sized(json_object_get_string(value), (size_t)json_object_get_string_len(value));
    return true;
}

bool body_slug(json_object *object, const char *name, struct str *slug)
{
    json_object *value;

    return json_object_object_get_ex(object, name, &value) && read_text(value, slug) &&
           identifier_is_slug(*slug);
}

static int by_id(const void *a, const void *b)
{
    struct str one = ((const struct named_seat *)a)->seat;
    struct str other = ((const struct named_seat *)b)->seat;
    int order = memcmp(one.p, other.p, one.n < other.n ? one.n : other.n);

    return order != 0 ? order : (one.n > other.n) - (one.n < other.n);
}

size_t body_seats_count(json_object *object)
{
    json_object *list;

    return json_object_object_get_ex(object, "seats", &list) &&
                   json_object_is_type(list, json_type_array)
               ? json_object_array_length(list)
               : 0;
}

bool body_seats_read(struct arena *arena, json_object *object, size_t least, size_t most,
                     struct body_seats *seats, struct body_fault *fault)
{
    json_object *list;

    if (!json_object_object_get_ex(object, "seats", &list) ||
        !json_object_is_type(list, json_type_array)) {
        return body_fail(fault, "/seats", "The seats must be a list.");
    }
    size_t count = json_object_array_length(list);
    if (count < least || count > most) {
        return body_fail(fault, "/seats",
                         arena_format(arena, "Name %zu to %zu seats.", least, most));
    }
    struct named_seat *named = arena_alloc(arena, (count + 1) * sizeof(*named));
    for (size_t i = 0; i < count; i++) {
        named[i].position = i;
        if (!read_text(json_object_array_get_idx(list, i), &named[i].seat) ||
            !identifier_is_seat(named[i].seat)) {
            return body_fail(fault, arena_format(arena, "/seats/%zu", i),
                             "A seat's id is 1 to 32 letters, digits, '.', '_' and '-'.");
        }
    }
    qsort(named, count, sizeof(*named), by_id);
    struct str *ids = arena_alloc(arena, (count + 1) * sizeof(*ids));
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && str_equal(named[i - 1].seat, named[i].seat)) {
            size_t second = named[i].position > named[i - 1].position ? named[i].position
                                                                      : named[i - 1].position;
            return body_fail(fault, arena_format(arena, "/seats/%zu", second),
                             "The seat appears in the list twice.");
        }
        ids[i] = named[i].seat;
    }
    *seats = (struct body_seats){.seats = ids, .count = count};
    return true;
}
