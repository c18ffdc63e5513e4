/*
 * program_options — the command line that all programs share: --config, --check-config,
 * --print-config, --help, --version, and each program's own options from a small table.
 *
 *     static struct program_option options[] = {
 *         {.name = "pool",
 *          .argument = "queue|order|payment|catalog|operator",
 *          .description = "which routes to serve"},
 *     };
 *     struct program program = {.name = "sluice-fcgi", .summary = "…", .options = options,
 *                               .option_count = 1, .required = NEEDED};
 *     int code = program_start(&program, argc, argv, &settings);
 *     if (code != PROGRAM_GOES_ON) { return code; }
 */
#ifndef SLUICE_SETTINGS_PROGRAM_OPTIONS_H
#define SLUICE_SETTINGS_PROGRAM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/settings/settings.h"

/** Exit codes of every program; those from 64 on are those of sysexits.h. */
enum program_exit {
    PROGRAM_GOES_ON = -1,
    PROGRAM_OK = 0,
    PROGRAM_NEEDS_PERSON = 1, /* reconcile found something that needs an operator */
    PROGRAM_USAGE = 64,       /* wrong command line */
    PROGRAM_UNAVAILABLE = 69, /* Redis or PostgreSQL does not answer at start-up */
    PROGRAM_BAD_CONFIG = 78   /* wrong settings */
};

enum { PROGRAM_OPTIONS_MAX = 16 };

struct program_option {
    const char *name;        /* without "--" */
    const char *argument;    /* name of its argument in the help; NULL: takes none */
    const char *description; /* one line */
    const char *value;       /* out: the argument ("" for an option without), NULL if not given */
};

struct program {
    const char *name;
    const char *summary;            /* one sentence for --help */
    struct program_option *options; /* the program's own */
    size_t option_count;            /* 0..PROGRAM_OPTIONS_MAX */
    /* Names of the required settings, NULL-terminated; or NULL. */
    const char *const *required;
    /* Further checks of the settings, also with --check-config (key files, for example); or
     * NULL. */
    bool (*check)(const struct settings *settings, char error[SETTINGS_ERROR]);
    /* Name of the arguments in the help, e.g. "COMMAND …"; NULL: takes none. */
    const char *arguments_help;
    char **arguments;   /* out: what is not an option, borrowed from argv */
    int argument_count; /* out */
    bool only_asked;    /* out: --check-config or --print-config was given */
};

/** Parses the command line, loads the settings from --config (else $SLUICE_CONFIG, else defaults
 *  and environment only), checks them and starts the log. Returns PROGRAM_GOES_ON, or the exit
 *  code: the requested text was printed, or one sentence on standard error. Free `settings` with
 *  settings_free() in the former case only. */
int program_start(struct program *program, int argc, char **argv, struct settings *settings);

/** Prints on standard error what is wrong with the command line and where help is. Returns
 *  PROGRAM_USAGE. */
int program_usage_error(const struct program *program, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
