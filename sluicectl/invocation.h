/*
 * invocation — one call of sluicectl: options, arguments, and what commands say and print.
 */
#ifndef SLUICE_SLUICECTL_INVOCATION_H
#define SLUICE_SLUICECTL_INVOCATION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>

#include "lib/base/arena.h"

/** What the shell gets, the same for every command. */
enum exit_code {
    EXIT_DONE = 0,
    EXIT_FAILED = 1, /* refused; or something was found: diff, doctor, lottery verify */
    EXIT_USAGE = 64,
    EXIT_UNAVAILABLE = 69, /* no answer, or not possible at the moment: the same later may do */
    EXIT_FORBIDDEN = 77,   /* the key was not accepted, or may not do that */
    EXIT_CONFIG = 78       /* a key, a settings file or another file cannot be read or written */
};

/** Where scripts/run keeps its data unless told otherwise. */
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
    char **arguments; /* what follows the command's words */
    int argument_count;
};

/** Says what went wrong on standard error. Returns EXIT_FAILED. */
enum exit_code failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** As failed(), for a reason that has an exit code of its own: remembers it for exit_code_of(),
 *  so that whoever only knows of a failure need not carry it. Returns `code`. */
enum exit_code failed_as(enum exit_code code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** The exit code of a command that returned `code`: EXIT_FAILED becomes what failed_as() was
 *  told last. */
enum exit_code exit_code_of(enum exit_code code);

/** Says what is wrong with the command line, and where help is. Returns EXIT_USAGE. */
enum exit_code misused(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** How many bytes at the beginning of `text` are one character that steers a terminal: C0 and
 *  DEL, or C1 (U+009B is what ESC [ is); 0 for any other, and at its end. */
size_t steering_bytes(const char *text);

/** Prints text of others on one line's part: what would steer a terminal becomes a space. */
void print_plain(FILE *stream, const char *text);

/** Prints an object as one line of JSON. */
void print_json(json_object *object);

/** A new object that lives as long as the invocation's arena. */
json_object *scratch_object(const struct invocation *invocation);

/** A text of an object's field; `otherwise` where it has none. */
const char *text_field(json_object *object, const char *name, const char *otherwise);

/** The id in the `index`th argument; NULL, and said why, where it cannot be one. `what` names
 *  its kind. */
const char *id_argument(const struct invocation *invocation, int index, const char *what);

#endif
