#include "fcgi-app/http/request.h"

#include <math.h>
#include <string.h>

enum { JSON_DEPTH = 16 };

static void release(void *object)
{
    (void)json_object_put(object);
}

/* json-c takes NaN and numbers beyond a double, and keeps U+0000 inside of strings: neither is wanted. */
static const char *fault_in(json_object *value)
{
    const char *why = NULL;

    switch (json_object_get_type(value)) {
    case json_type_double:
        return isfinite(json_object_get_double(value)) ? NULL
                                                       : "The body holds a number out of range.";
    case json_type_string:
        return memchr(json_object_get_string(value), '\0',
                      (size_t)json_object_get_string_len(value)) == NULL
                   ? NULL
                   : "The body holds a string with U+0000.";
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
    json_tokener *tokener = json_tokener_new_ex(JSON_DEPTH);

    if (tokener == NULL) {
        *why = "The body could not be read.";
        return NULL;
    }
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    /* The NUL behind the text is handed over too: it ends a value that would otherwise go on. */
    json_object *object = json_tokener_parse_ex(tokener, text.p, (int)text.n + 1);
    enum json_tokener_error error = json_tokener_get_error(tokener);
    size_t end = json_tokener_get_parse_end(tokener);
    json_tokener_free(tokener);
    if (error != json_tokener_success || end != text.n) {
        (void)json_object_put(object);
        *why = error == json_tokener_error_depth ? "The body is nested more than 16 deep."
               : error == json_tokener_error_parse_utf8_string ? "The body is not valid UTF-8."
                                                               : "The body is not valid JSON.";
        return NULL;
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
