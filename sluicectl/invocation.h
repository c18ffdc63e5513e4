/*
 * invocation — one call of sluicectl: options, arguments, and what commands say and print.
 */
#ifndef SLUICE_SLUICECTL_INVOCATION_H
#define SLUICE_SLUICECTL_INVOCATION_H

#include <stdbool.h>
#include <stdint.h>

#include <json-c/json.h>

#include "lib/base/arena.h"

enum exit_code { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 64 };

struct invocation {
    struct arena *arena;
    const char *url;  /* http://… or https://…, without a slash at its end */
    const char *data; /* folder with secrets/ */
    bool json;
    bool watch;
    bool force;
    int64_t ttl_s;
    int64_t samples;
    int64_t limit;
    const char *target; /* "": all */
    int64_t uses;
    const char *expires;    /* "": never */
    const char *members;    /* a file; "": none */
    const char *commitment; /* "": the published one */
    char **arguments;       /* what follows the command's words */
    int argument_count;
};

/** Says what went wrong on standard error. Returns EXIT_FAILED. */
enum exit_code failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Says what is wrong with the command line, and where help is. Returns EXIT_USAGE. */
enum exit_code misused(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Prints an object as one line of JSON. */
void print_json(json_object *object);

/** The id in the `index`th argument; NULL, and said why, where it cannot be one. `what` names its kind. */
const char *id_argument(const struct invocation *invocation, int index, const char *what);

#endif
