#include "fcgi-app/http/request.h"

#include <math.h>
#include <string.h>

#include "fcgi-app/http/json_grammar.h"

enum { JSON_DEPTH = 16 };

static void release(void *object)
{
    (void)json_object_put(object);
}

/* json-c accepts NaN and numbers beyond a double, and keeps U+0000 in strings: all are refused. */
static const char *fault_in(json_object *value)
{
    const char *why = NULL;

    switch (json_object_get_type(value)) {
    case json_type_double:
        return isfinite(json_object_get_double(value)) ? NULL
                                                       : "The body contains a number out of range.";
    case json_type_string:
        return memchr(json_object_get_string(value), '\0',
                      (size_t)json_object_get_string_len(value)) == NULL
                   ? NULL
                   : "The body contains a string with U+0000.";
    case json_type_array:
        for (size_t i = 0; i < json_object_array_length(value) && why == NULL; i++) {
            why = fault_in(json_object_array_get_idx(value, i));
        }
        return why;
    case json_type_object: {
        json_object_object_foreach(value, name, member)
        {
            (void)name;
            why = why == NULL ? fault_in(member) : why;
        }
        return why;
    }
    default:
        return NULL;
    }
}

static json_object *parse(struct str text, const char **why)
{
    json_object *object = NULL;

    if (!json_grammar_holds(text, JSON_DEPTH, why)) {
        return NULL;
    }
    json_tokener *tokener = json_tokener_new_ex(JSON_DEPTH + 1);
    if (tokener != NULL) {
        json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
        object = json_tokener_parse_ex(tokener, text.p, (int)text.n);
        json_tokener_free(tokener);
    }
    return object;
}

json_object *request_json(const struct request *request, const char **why)
{
    *why = NULL;
    json_object *object =
        request->body.n == 0 ? json_object_new_object() : parse(request->body, why);
    if (*why != NULL) {
        return NULL;
    }
    arena_on_reset(request->arena, release, object);
    if (!json_object_is_type(object, json_type_object)) {
        *why = "The body must be a JSON object.";
        return NULL;
    }
    *why = fault_in(object);
    return *why == NULL ? object : NULL;
}
