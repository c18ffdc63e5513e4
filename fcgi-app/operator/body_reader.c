#include "fcgi-app/operator/body_reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fcgi-app/http/problem.h"
#include "lib/admission/queues/queue_setting_value.h"

enum { SENTENCE_MAX = 512 };

bool body_refuse(const struct body_reader *reader, const char *pointer, const char *format, ...)
{
    char sentence[SENTENCE_MAX];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    problem_answer_at(reader->request, reader->response, pointer, "%s", sentence);
    return false;
}

/* The name of the field that a pointer ends with. */
static const char *name_in(const char *pointer)
{
    const char *slash = strrchr(pointer, '/');

    return slash == NULL ? pointer : slash + 1;
}

bool body_only_known(const struct body_reader *reader, json_object *object, const char *parent,
                     const char *const known[])
{
    json_object_object_foreach(object, name, value)
    {
        size_t i = 0;
        (void)value;
        while (known[i] != NULL && strcmp(known[i], name) != 0) {
            i++;
        }
        if (known[i] == NULL) {
            return body_refuse(reader,
                               arena_format(reader->request->arena, "%s/%s", parent,
                                            json_pointer_token(reader->request->arena, name)),
                               "There is no such field.");
        }
    }
    return true;
}

struct str body_text(json_object *value)
{
    if (!json_object_is_type(value, json_type_string)) {
        return str_sized(NULL, 0);
    }
    return str_sized(json_object_get_string(value), (size_t)json_object_get_string_len(value));
}

/* The number of characters of a text, SIZE_MAX if one of them is not allowed. */
static size_t characters_of(struct str text, bool lines)
{
    size_t characters = 0;

    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if ((c < ' ' && !(lines && c == '\n')) || c == 0x7f) {
            return SIZE_MAX;
        }
        characters += (c & 0xc0) != 0x80;
    }
    return characters;
}

bool body_read_text(const struct body_reader *reader, json_object *value, const char *pointer,
                    size_t least, size_t most, bool lines, struct str *text)
{
    size_t characters;

    *text = body_text(value);
    characters = characters_of(*text, lines);
    if ((value == NULL && least == 0) || (json_object_is_type(value, json_type_string) &&
                                          characters >= least && characters <= most)) {
        return true;
    }
    return body_refuse(
        reader, pointer,
        "%s must be a string of %zu to %zu characters, without control characters%s.",
        name_in(pointer), least, most, lines ? " but line feeds" : "");
}

bool body_read_label(const struct body_reader *reader, json_object *value, const char *pointer,
                     size_t most, struct str *label)
{
    if (json_object_is_type(value, json_type_int)) {
        *label = str_of(arena_int(reader->request->arena, json_object_get_int64(value)));
        return true;
    }
    return body_read_text(reader, value, pointer, 0, most, false, label);
}

bool body_read_whole(const struct body_reader *reader, json_object *value, const char *pointer,
                     int64_t least, int64_t most, int64_t otherwise, int64_t *number)
{
    if (value == NULL && otherwise >= least) {
        *number = otherwise;
        return true;
    }
    *number = json_object_get_int64(value);
    if (json_object_is_type(value, json_type_int) && *number >= least && *number <= most) {
        return true;
    }
    return body_refuse(reader, pointer,
                       "%s must be a whole number from %" PRId64 " to %" PRId64 ".",
                       name_in(pointer), least, most);
}

bool body_read_price(const struct body_reader *reader, json_object *value, const char *pointer,
                     int64_t most, int64_t *amount, struct str *currency)
{
    static const char *const FIELDS[] = {"amount", "currency", NULL};
    struct arena *arena = reader->request->arena;

    if (!json_object_is_type(value, json_type_object)) {
        return body_refuse(reader, pointer,
                           "price must be {\"amount\", \"currency\"}, the amount in the currency's "
                           "minor unit.");
    }
    if (!body_only_known(reader, value, pointer, FIELDS) ||
        !body_read_whole(reader, json_object_object_get(value, "amount"),
                         arena_format(arena, "%s/amount", pointer), 0, most, -1, amount)) {
        return false;
    }
    *currency = body_text(json_object_object_get(value, "currency"));
    bool letters = currency->n == 3;
    for (size_t i = 0; i < currency->n; i++) {
        letters = letters && currency->p[i] >= 'A' && currency->p[i] <= 'Z';
    }
    return letters ||
           body_refuse(reader, arena_format(arena, "%s/currency", pointer),
                       "currency must be an ISO 4217 code: three capital letters, like KRW.");
}
