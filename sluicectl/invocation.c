#include "sluicectl/invocation.h"

#include <stdarg.h>
#include <stdio.h>

#include "lib/base/identifier.h"

enum exit_code failed(const char *format, ...)
{
    va_list arguments;

    (void)fputs("sluicectl: ", stderr);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
    return EXIT_FAILED;
}

enum exit_code misused(const char *format, ...)
{
    va_list arguments;

    (void)fputs("sluicectl: ", stderr);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputs("\nSee: sluicectl help\n", stderr);
    return EXIT_USAGE;
}

void print_json(json_object *object)
{
    (void)puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
                                                          JSON_C_TO_STRING_NOSLASHESCAPE));
}

const char *id_argument(const struct invocation *invocation, int index, const char *what)
{
    const char *id = invocation->arguments[index];

    if (!identifier_is_slug(str_of(id))) {
        (void)misused("'%s' is no %s: it has 1 to 63 of a-z, 0-9 and '-', not beginning with '-'",
                      id, what);
        return NULL;
    }
    return id;
}
