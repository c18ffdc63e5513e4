#include "sluicectl/invocation.h"

#include <stdarg.h>
#include <stdio.h>

#include "lib/base/identifier.h"

enum { SENTENCES_MAX = 4096 };

static enum exit_code reported = EXIT_FAILED;

static void say(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

size_t steering_bytes(const char *text)
{
    unsigned char c = (unsigned char)text[0];
    unsigned char next = c == 0xc2 ? (unsigned char)text[1] : 0;

    return c == 0 ? 0 : c < ' ' || c == 0x7f ? 1 : next >= 0x80 && next <= 0x9f ? 2 : 0;
}

void print_plain(FILE *stream, const char *text)
{
    for (size_t length; *text != '\0'; text += length) {
        length = steering_bytes(text);
        if (length > 0) {
            (void)fputc(' ', stream);
        } else {
            (void)fputc((unsigned char)*text, stream);
            length = 1;
        }
    }
}

static void say(const char *format, va_list arguments)
{
    char text[SENTENCES_MAX];

    (void)vsnprintf(text, sizeof(text), format, arguments);
    (void)fputs("sluicectl: ", stderr);
    print_plain(stderr, text);
    (void)fputc('\n', stderr);
}

enum exit_code failed(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    return EXIT_FAILED;
}

enum exit_code failed_as(enum exit_code code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    reported = code;
    return code;
}

enum exit_code exit_code_of(enum exit_code code)
{
    return code == EXIT_FAILED ? reported : code;
}

enum exit_code misused(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    (void)fputs("See: sluicectl help\n", stderr);
    return EXIT_USAGE;
}

void print_json(json_object *object)
{
    (void)puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
                                                          JSON_C_TO_STRING_NOSLASHESCAPE));
}

static void release_json(void *object)
{
    (void)json_object_put(object);
}

json_object *scratch_object(const struct invocation *invocation)
{
    json_object *object = json_object_new_object();

    arena_on_reset(invocation->arena, release_json, object);
    return object;
}

const char *text_field(json_object *object, const char *name, const char *otherwise)
{
    json_object *value = NULL;

    return json_object_object_get_ex(object, name, &value) &&
                   json_object_is_type(value, json_type_string)
               ? json_object_get_string(value)
               : otherwise;
}

const char *id_argument(const struct invocation *invocation, int index, const char *what)
{
    const char *id = invocation->arguments[index];

    if (!identifier_is_slug(str_of(id))) {
        (void)misused(
            "'%s' is not a valid %s: it has 1 to 63 of a-z, 0-9 and '-', not beginning with '-'",
            id, what);
        return NULL;
    }
    return id;
}
