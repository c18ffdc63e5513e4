/*
 * invocation — one call of sluicectl: options, arguments, messages and output.
 */
#ifndef SLUICE_SLUICECTL_INVOCATION_H
#define SLUICE_SLUICECTL_INVOCATION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>

#include "lib/base/arena.h"

/** Exit codes, the same for every command. */
enum exit_code {
    EXIT_DONE = 0,
    EXIT_FAILED = 1, /* refused; or something was found: diff, doctor, lottery verify */
    EXIT_USAGE = 64,
    EXIT_UNAVAILABLE = 69, /* no answer, or not possible at the moment: a retry may succeed */
    EXIT_FORBIDDEN = 77,   /* the key was not accepted, or has no permission */
    EXIT_CONFIG = 78       /* a key, a settings file or another file cannot be read or written */
};

/** The default data folder of scripts/run. */
#define DATA_USUAL          "./data"

#define OPTION_FIELD_FLAG   bool
#define OPTION_FIELD_NUMBER int64_t
#define OPTION_FIELD_TEXT   const char *

struct invocation {
    struct arena *arena;
    const char *url;  /* http://… or https://…, without a slash at its end */
    const char *data; /* folder with secrets/ */
    bool json;
#define GLOBAL(spelling, value, text)
#define OPTION(name, field, spelling, kind, minimum, maximum, initial, value, text)                \
    OPTION_FIELD_##kind field;
#include "sluicectl/options.tbl"
#undef OPTION
#undef GLOBAL
    char **arguments; /* after the command's words */
    int argument_count;
};

/** Reports an error on standard error. Returns EXIT_FAILED. */
enum exit_code failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** As failed(), for a cause with its own exit code: remembers it for exit_code_of(), so that
 *  callers that only know of a failure need not pass it on. Returns `code`. */
enum exit_code failed_as(enum exit_code code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** The exit code of a command that returned `code`: EXIT_FAILED becomes the code of the last
 *  failed_as(). */
enum exit_code exit_code_of(enum exit_code code);

/** Reports an error in the command line, and points to help. Returns EXIT_USAGE. */
enum exit_code misused(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The length in bytes of a terminal control character at the beginning of `text`: C0 and DEL, or
 *  C1 (U+009B is what ESC [ is); 0 for any other, and at its end. */
size_t steering_bytes(const char *text);

/** Prints foreign text as part of one line: control characters become spaces. */
void print_plain(FILE *stream, const char *text);

/** Prints an object as one line of JSON. */
void print_json(json_object *object);

/** A new object that lives as long as the invocation's arena. */
json_object *scratch_object(const struct invocation *invocation);

/** A text field of an object; `otherwise` if it has none. */
const char *text_field(json_object *object, const char *name, const char *otherwise);

/** The id in the argument at `index`; NULL, with a message, if it cannot be one. `what` names its
 *  kind. */
const char *id_argument(const struct invocation *invocation, int index, const char *what);

#endif
