/*
 * sluicectl — the operator API from a shell. Parses the command line and runs a command.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "lib/base/log.h"
#include "sluicectl/commands.h"
#include "sluicectl/server/installation.h"

enum option_kind { KIND_FLAG, KIND_NUMBER, KIND_TEXT };

#define GLOBAL(spelling, value, text)

/** The options of single commands, by their numbers. */
static const struct {
    const char *spelling;
    enum option_kind kind;
    int64_t minimum;
    int64_t maximum;
    size_t field; /* offset in struct invocation */
} ROWS[] = {
#define OPTION(name, field, spelling, kind, minimum, maximum, initial, value, text)                \
    {spelling, KIND_##kind, minimum, maximum, offsetof(struct invocation, field)},
#include "sluicectl/options.tbl"
#undef OPTION
};

enum { FIRST_ROW = 256 }; /* getopt's values for them begin above every letter */

#define ARGUMENT_FLAG   no_argument
#define ARGUMENT_NUMBER required_argument
#define ARGUMENT_TEXT   required_argument

static const struct option OPTIONS[] = {{"url", required_argument, NULL, 'u'},
                                        {"data", required_argument, NULL, 'd'},
                                        {"json", no_argument, NULL, 'j'},
                                        {"help", no_argument, NULL, 'h'},
                                        {"version", no_argument, NULL, 'v'},
#define OPTION(name, field, spelling, kind, minimum, maximum, initial, value, text)                \
    {spelling, ARGUMENT_##kind, NULL, FIRST_ROW + OPTION_NUMBER_##name},
#include "sluicectl/options.tbl"
#undef OPTION
                                        {NULL, 0, NULL, 0}};
#undef GLOBAL

/** What the command line asks for besides a command. */
struct requests {
    bool help;
    bool version;
    unsigned int options; /* enum command_option: those given */
};

static const char *environment(const char *name, const char *otherwise)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : otherwise;
}

/** Applies the option `number` of a single command; false, with a message, for a bad value. */
static bool take_row(enum option_number number, struct invocation *invocation,
                     struct requests *requests)
{
    char *field = (char *)invocation + ROWS[number].field;

    requests->options |= 1U << number;
    switch (ROWS[number].kind) {
    case KIND_FLAG:
        *(bool *)(void *)field = true;
        return true;
    case KIND_TEXT:
        *(const char **)(void *)field = optarg;
        return true;
    case KIND_NUMBER:
        break;
    }
    if (str_to_int64(str_of(optarg), ROWS[number].minimum, ROWS[number].maximum,
                     (int64_t *)(void *)field)) {
        return true;
    }
    (void)misused("--%s must be a whole number from %" PRId64 " to %" PRId64 ", not '%s'",
                  ROWS[number].spelling, ROWS[number].minimum, ROWS[number].maximum, optarg);
    return false;
}

/** Applies one option; false, with a message, for a bad one. */
static bool take_option(int letter, struct invocation *invocation, struct requests *requests)
{
    switch (letter) {
    case 'u':
        invocation->url = optarg;
        return true;
    case 'd':
        invocation->data = optarg;
        return true;
    case 'j':
        invocation->json = true;
        return true;
    case 'f':
        return take_row(OPTION_NUMBER_FILE, invocation, requests);
    case 'h':
        requests->help = true;
        return true;
    case 'v':
        requests->version = true;
        return true;
    default:
        if (letter >= FIRST_ROW && letter < FIRST_ROW + OPTION_COUNT) {
            return take_row((enum option_number)(letter - FIRST_ROW), invocation, requests);
        }
        (void)fputs("See: sluicectl help\n", stderr);
        return false;
    }
}

/** Finds the URL where none is named, checks it and removes trailing slashes. It stays empty if this
 *  host has none. */
static bool settle_url(struct invocation *invocation)
{
    if (invocation->url[0] == '\0') {
        invocation->url = installation_url(invocation);
        if (invocation->url[0] == '\0') {
            return true;
        }
    }
    struct str url = str_of(invocation->url);

    if (!str_starts(url, STR("http://")) && !str_starts(url, STR("https://"))) {
        (void)misused("the address must begin with http:// or https://, not '%s'", invocation->url);
        return false;
    }
    while (url.p[url.n - 1] == '/') {
        url.n--;
    }
    invocation->url = arena_copy(invocation->arena, url);
    return true;
}

static bool target_is_plain(const char *target)
{
    return target[strspn(target, "abcdefghijklmnopqrstuvwxyz0123456789-/")] == '\0';
}

static enum exit_code run(struct invocation *invocation, const struct requests *requests,
                          char **words, int count)
{
    int used = 0;

    if (requests->version) {
        (void)puts("sluicectl " PACKAGE_VERSION);
        return EXIT_DONE;
    }
    if (count > 0 && strcmp(words[0], "help") == 0) {
        return command_help(invocation->arena, words + 1, count - 1);
    }
    if (requests->help) {
        return command_help(invocation->arena, words, count);
    }
    if (count == 0) {
        return misused("a command is missing");
    }
    const struct command *command = command_find(words, count, &used);
    if (command == NULL) {
        return misused("there is no command '%s%s%s'", words[0], count > 1 ? " " : "",
                       count > 1 ? words[1] : "");
    }
    invocation->arguments = words + used;
    invocation->argument_count = count - used;
    if (invocation->argument_count < command->least || invocation->argument_count > command->most) {
        return misused("it is: sluicectl %s %s", command->words, command->arguments);
    }
    if ((requests->options & ~command->options) != 0) {
        return misused("'%s' does not accept that option", command->words);
    }
    if (!target_is_plain(invocation->target)) {
        return misused("--target must be like queue/spring-sale or product/mug");
    }
    return settle_url(invocation) ? command->run(command, invocation) : EXIT_USAGE;
}

int main(int argc, char **argv)
{
    struct requests requests = {0};
    struct invocation invocation = {
        .url = environment("SLUICE_URL", ""),
        .data = environment("SLUICE_DATA", DATA_USUAL),
#define GLOBAL(spelling, value, text)
#define OPTION(name, field, spelling, kind, minimum, maximum, initial, value, text)                \
    .field = (initial),
#include "sluicectl/options.tbl"
#undef OPTION
#undef GLOBAL
    };
    int letter = 0;

    log_start("sluicectl", LOG_LEVEL_ERROR);
    while ((letter = getopt_long(argc, argv, "hf:", OPTIONS, NULL)) != -1) {
        if (!take_option(letter, &invocation, &requests)) {
            return EXIT_USAGE;
        }
    }
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return (int)failed("libcurl cannot be used");
    }
    invocation.arena = arena_new();
    enum exit_code code = run(&invocation, &requests, argv + optind, argc - optind);
    arena_free(invocation.arena);
    curl_global_cleanup();
    if (fflush(stdout) != 0) {
        return (int)failed_as(EXIT_CONFIG, "the output could not be written");
    }
    return (int)exit_code_of(code);
}
