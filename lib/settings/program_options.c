#include "lib/settings/program_options.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/settings/program_part.h"

enum { COMMON_COUNT = 5 };

/* Return values of getopt_long(): the common options, then the program's own from ASK_OWN on. */
enum { ASK_CONFIG = 1, ASK_CHECK_CONFIG, ASK_PRINT_CONFIG, ASK_HELP, ASK_VERSION, ASK_OWN };

static const struct program_option COMMON[COMMON_COUNT] = {
    {.name = "config",
     .argument = "FILE",
     .description = "settings file (default: $SLUICE_CONFIG)"},
    {.name = "check-config", .description = "check the settings and exit"},
    {.name = "print-config",
     .description = "print the settings in force, secrets masked, and exit"},
    {.name = "help", .description = "print this and exit"},
    {.name = "version", .description = "print the version and exit"},
};

struct parsed_options {
    const char *config;
    bool check;
    bool print;
};

static void print_options(const struct program_option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char left[64];
        const char *argument = options[i].argument;
        (void)snprintf(left, sizeof(left), "--%s%s%s", options[i].name, argument == NULL ? "" : " ",
                       argument == NULL ? "" : argument);
        (void)printf("  %-30s %s\n", left, options[i].description);
    }
}

static void print_help(const struct program *program)
{
    (void)printf("Usage: %s [OPTION …]%s%s\n\n%s\n\nOptions:\n", program->name,
                 program->arguments_help == NULL ? "" : " ",
                 program->arguments_help == NULL ? "" : program->arguments_help, program->summary);
    print_options(program->options, program->option_count);
    print_options(COMMON, COMMON_COUNT);
    (void)printf("\nExit codes: 0 well, %d a person must look, %d wrong command line,\n"
                 "%d Redis or PostgreSQL does not answer at the start, %d wrong settings.\n\n"
                 "Settings, as 'key = value' in FILE or as SLUICE_<KEY> in the environment:\n",
                 PROGRAM_NEEDS_PERSON, PROGRAM_USAGE, PROGRAM_UNAVAILABLE, PROGRAM_BAD_CONFIG);
    (void)printf(
        "{program} in text, a path or a conninfo is the program that reads it: queue, order, "
        "payment,\noperator, catalog, scheduler, board, reconcile, doctor.\n");
    settings_help(stdout);
}

int program_usage_error(const struct program *program, const char *format, ...)
{
    va_list arguments;

    (void)fprintf(stderr, "%s: ", program->name);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "\nSee: %s --help\n", program->name);
    return PROGRAM_USAGE;
}

static int bad_config(const struct program *program, const char *error)
{
    (void)fprintf(stderr, "%s: %s\n", program->name, error);
    return PROGRAM_BAD_CONFIG;
}

static void describe(struct option *out, const struct program_option *option, int value)
{
    *out = (struct option){.name = option->name,
                           .has_arg = option->argument == NULL ? no_argument : required_argument,
                           .val = value};
}

static int unknown_option(const struct program *program, int found, char *const argv[])
{
    if (optopt >= ' ') {
        return program_usage_error(program, "unknown option '-%c'", optopt);
    }
    return program_usage_error(program,
                               found == ':' ? "option '%s' needs an argument"
                                            : "unknown or wrongly used option '%s'",
                               argv[optind - 1]);
}

/* Returns PROGRAM_GOES_ON if the settings are to be loaded next, otherwise the exit code. */
static int read_options(struct program *program, int argc, char **argv,
                        struct parsed_options *parsed_options)
{
    struct option options[COMMON_COUNT + PROGRAM_OPTIONS_MAX + 1] = {{.name = NULL}};
    int found;

    if (program->option_count > PROGRAM_OPTIONS_MAX) {
        abort();
    }
    for (size_t i = 0; i < COMMON_COUNT; i++) {
        describe(&options[i], &COMMON[i], ASK_CONFIG + (int)i);
    }
    for (size_t i = 0; i < program->option_count; i++) {
        program->options[i].value = NULL;
        describe(&options[COMMON_COUNT + i], &program->options[i], ASK_OWN + (int)i);
    }
    optind = 0; /* restarts getopt, also when called twice in one process */
    while ((found = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        switch (found) {
        case ASK_CONFIG:
            parsed_options->config = optarg;
            break;
        case ASK_CHECK_CONFIG:
            parsed_options->check = true;
            break;
        case ASK_PRINT_CONFIG:
            parsed_options->print = true;
            break;
        case ASK_HELP:
            print_help(program);
            return PROGRAM_OK;
        case ASK_VERSION:
            (void)printf("%s %s\n", program->name, PACKAGE_VERSION);
            return PROGRAM_OK;
        case '?':
        case ':':
            return unknown_option(program, found, argv);
        default:
            program->options[found - ASK_OWN].value = optarg == NULL ? "" : optarg;
            break;
        }
    }
    program->arguments = argv + optind;
    program->argument_count = argc - optind;
    if (program->arguments_help == NULL && program->argument_count > 0) {
        return program_usage_error(program, "'%s' is not understood", argv[optind]);
    }
    return PROGRAM_GOES_ON;
}

static void start_log(const struct program *program, const struct settings *settings)
{
    enum log_level level = LOG_LEVEL_INFO;

    if (!log_level_parse(str_of(settings->log_level), &level)) {
        abort();
    }
    log_start(program->name, level);
}

/* What `{program}` stands for in settings: the value of --pool if the program has pools and it is
 * given, else the program's name without "sluice-". */
static const char *part_of(const struct program *program)
{
    static const char OURS[] = "sluice-";

    for (size_t i = 0; i < program->option_count; i++) {
        if (strcmp(program->options[i].name, "pool") == 0 && program->options[i].value != NULL) {
            return program->options[i].value;
        }
    }
    return strncmp(program->name, OURS, strlen(OURS)) == 0 ? program->name + strlen(OURS)
                                                           : program->name;
}

int program_start(struct program *program, int argc, char **argv, struct settings *settings)
{
    struct parsed_options parsed_options = {.config = getenv("SLUICE_CONFIG")};
    char error[SETTINGS_ERROR];

    int code = read_options(program, argc, argv, &parsed_options);
    if (code != PROGRAM_GOES_ON) {
        return code;
    }
    program->only_asked = parsed_options.check || parsed_options.print;
    if (!settings_load(parsed_options.config, settings, error)) {
        return bad_config(program, error);
    }
    settings_name_program(settings, part_of(program));
    /* Printed even if required settings are missing, to help find out which. */
    if (parsed_options.print) {
        settings_print(stdout, settings);
    }
    start_log(program, settings);
    if ((program->required != NULL && !settings_require(settings, program->required, error)) ||
        (program->check != NULL && !program->check(settings, error))) {
        settings_free(settings);
        return bad_config(program, error);
    }
    if (parsed_options.check && !parsed_options.print) {
        (void)printf("%s: the settings are good\n", program->name);
    }
    if (program->only_asked) {
        settings_free(settings);
        return PROGRAM_OK;
    }
    return PROGRAM_GOES_ON;
}
