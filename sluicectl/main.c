/*
 * sluicectl — the operator API from a shell. Reads the command line and hands over to a command.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "lib/admission/queue_publication.h"
#include "lib/base/log.h"
#include "lib/orders/audit_store.h"
#include "sluicectl/commands.h"

enum {
    TTL_USUAL_S = 3600,
    TTL_MAX_S = 31536000,
    SAMPLES_USUAL = 10,
    LIMIT_USUAL = 50,
    USES_MAX = 1000000000
};

static const struct option OPTIONS[] = {{"url", required_argument, NULL, 'u'},
                                        {"data", required_argument, NULL, 'd'},
                                        {"json", no_argument, NULL, 'j'},
                                        {"force", no_argument, NULL, 'f'},
                                        {"watch", no_argument, NULL, 'w'},
                                        {"ttl", required_argument, NULL, 't'},
                                        {"samples", required_argument, NULL, 's'},
                                        {"limit", required_argument, NULL, 'l'},
                                        {"target", required_argument, NULL, 'g'},
                                        {"uses", required_argument, NULL, 'n'},
                                        {"expires", required_argument, NULL, 'e'},
                                        {"members", required_argument, NULL, 'm'},
                                        {"commitment", required_argument, NULL, 'c'},
                                        {"help", no_argument, NULL, 'h'},
                                        {"version", no_argument, NULL, 'v'},
                                        {NULL, 0, NULL, 0}};

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

static bool read_number(const char *name, int64_t max, int64_t *number)
{
    if (str_to_int64(str_of(optarg), 1, max, number)) {
        return true;
    }
    (void)misused("--%s must be a whole number from 1 to %" PRId64 ", not '%s'", name, max, optarg);
    return false;
}

/** Takes one option; false, and said why, for a bad one. */
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
        invocation->force = true;
        requests->options |= OPTION_FORCE;
        return true;
    case 'w':
        invocation->watch = true;
        requests->options |= OPTION_WATCH;
        return true;
    case 't':
        requests->options |= OPTION_TTL;
        return read_number("ttl", TTL_MAX_S, &invocation->ttl_s);
    case 's':
        requests->options |= OPTION_SAMPLES;
        return read_number("samples", QUEUE_SERIES_MAX, &invocation->samples);
    case 'l':
        requests->options |= OPTION_LIMIT;
        return read_number("limit", AUDIT_LIMIT_MAX, &invocation->limit);
    case 'g':
        requests->options |= OPTION_TARGET;
        invocation->target = optarg;
        return true;
    case 'n':
        requests->options |= OPTION_USES;
        return read_number("uses", USES_MAX, &invocation->uses);
    case 'e':
        requests->options |= OPTION_EXPIRES;
        invocation->expires = optarg;
        return true;
    case 'm':
        requests->options |= OPTION_MEMBERS;
        invocation->members = optarg;
        return true;
    case 'c':
        requests->options |= OPTION_COMMITMENT;
        invocation->commitment = optarg;
        return true;
    case 'h':
        requests->help = true;
        return true;
    case 'v':
        requests->version = true;
        return true;
    default:
        (void)fputs("See: sluicectl help\n", stderr);
        return false;
    }
}

/** Checks the address and cuts slashes from its end. */
static bool settle_url(struct invocation *invocation)
{
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
    bool asked = count > 0 && strcmp(words[0], "help") == 0;
    if (asked || requests->help) {
        return command_help(invocation->arena, words + (asked ? 1 : 0), asked ? count - 1 : 0);
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
        return misused("'%s' does not take that option", command->words);
    }
    if (!target_is_plain(invocation->target)) {
        return misused("--target must be like queue/spring-sale or product/mug");
    }
    return settle_url(invocation) ? command->run(command, invocation) : EXIT_USAGE;
}

int main(int argc, char **argv)
{
    struct requests requests = {0};
    struct invocation invocation = {.url = environment("SLUICE_URL", "http://127.0.0.1:8080"),
                                    .data = environment("SLUICE_DATA", "./data"),
                                    .ttl_s = TTL_USUAL_S,
                                    .samples = SAMPLES_USUAL,
                                    .limit = LIMIT_USUAL,
                                    .target = "",
                                    .uses = 1,
                                    .expires = "",
                                    .members = "",
                                    .commitment = ""};
    int letter = 0;

    log_start("sluicectl", LOG_LEVEL_ERROR);
    while ((letter = getopt_long(argc, argv, "h", OPTIONS, NULL)) != -1) {
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
        return (int)failed("the output could not be written");
    }
    return (int)code;
}
