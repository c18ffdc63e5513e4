#include "demo/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "lib/base/identifier.h"
#include "lib/base/str.h"

enum { MOST_SHOPPERS = 5000, MOST_SECONDS = 7 * 24 * 3600 };

static const char HELP[] =
    "Usage: sluice-shoppers --url URL --data DIR [--shoppers N] [--queue Q] [--for SECONDS]\n"
    "\n"
    "Simulates a crowd of shoppers for a Sluice on this machine: they enter a queue, poll when\n"
    "told to, order, or leave. Prints one status line a second, and a summary at the end.\n"
    "\n"
    "  --url URL       address of Sluice: http://127.0.0.1:N (this machine only)\n"
    "  --data DIR      data folder of scripts/run, with its secrets\n"
    "  --shoppers N    number of concurrent shoppers, 1 to 5000 (default 300)\n"
    "  --queue Q       the demo's own queue: emptied and set up at the start (default demo)\n"
    "  --for SECONDS   stops after that time (default: on Ctrl-C or SIGTERM)\n"
    "  --help, --version\n";

static _Noreturn void refuse(const char *sentence)
{
    (void)fprintf(stderr, "sluice-shoppers: %s (see sluice-shoppers --help)\n", sentence);
    exit(EXIT_USAGE);
}

static bool part_is(CURLU *url, CURLUPart part, const char *const *allowed)
{
    char *text = NULL;
    bool found = false;

    if (curl_url_get(url, part, &text, 0) != CURLUE_OK) {
        return false;
    }
    for (; *allowed != NULL; allowed++) {
        found = found || strcmp(text, *allowed) == 0;
    }
    curl_free(text);
    return found;
}

/* A crowd is never sent to another machine. */
static bool url_is_here(const char *text)
{
    static const char *const SCHEMES[] = {"http", NULL};
    static const char *const HOSTS[] = {"127.0.0.1", "localhost", "[::1]", NULL};
    static const char *const PATHS[] = {"/", NULL};
    CURLU *url = curl_url();
    bool here = url != NULL && curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK &&
                part_is(url, CURLUPART_SCHEME, SCHEMES) && part_is(url, CURLUPART_HOST, HOSTS) &&
                part_is(url, CURLUPART_PATH, PATHS);
    size_t length = strlen(text);

    curl_url_cleanup(url);
    return here && text[length - 1] != '/' && strpbrk(text, "?#@") == NULL;
}

static int64_t number(const char *text, int64_t most, const char *sentence)
{
    int64_t value = 0;

    if (!str_to_int64(str_of(text), 1, most, &value)) {
        refuse(sentence);
    }
    return value;
}

void options_read(int count, char **arguments, struct options *options)
{
    static const struct option LONG[] = {
        {"url", required_argument, NULL, 'u'},      {"data", required_argument, NULL, 'd'},
        {"shoppers", required_argument, NULL, 'n'}, {"queue", required_argument, NULL, 'q'},
        {"for", required_argument, NULL, 'f'},      {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},        {NULL, 0, NULL, 0},
    };
    int choice;

    *options = (struct options){.queue = "demo", .shoppers = 300};
    while ((choice = getopt_long(count, arguments, "", LONG, NULL)) != -1) {
        switch (choice) {
        case 'u':
            options->url = optarg;
            break;
        case 'd':
            options->data_dir = optarg;
            break;
        case 'n':
            options->shoppers =
                number(optarg, MOST_SHOPPERS, "--shoppers must be a number from 1 to 5000");
            break;
        case 'q':
            options->queue = optarg;
            break;
        case 'f':
            options->seconds =
                number(optarg, MOST_SECONDS, "--for must be a number of seconds from 1 to 604800");
            break;
        case 'h':
            (void)fputs(HELP, stdout);
            exit(EXIT_SUCCESS);
        case 'v':
            (void)puts("sluice-shoppers " PACKAGE_VERSION);
            exit(EXIT_SUCCESS);
        default:
            exit(EXIT_USAGE);
        }
    }
    if (optind < count) {
        refuse("there are too many arguments");
    }
    if (options->url == NULL || options->data_dir == NULL) {
        refuse("--url and --data are required");
    }
    if (!url_is_here(options->url)) {
        refuse("--url must be http:// at 127.0.0.1, localhost or [::1], without a path");
    }
    if (!identifier_is_slug(str_of(options->queue))) {
        refuse("--queue must be 1 to 63 of a-z, 0-9 and '-'");
    }
}
