/*
 * Usage: sluice-load --port N --key FILE --queue Q --event E [--rate N] [--seconds N] [--members N]
 *                    [--connections N] [--prefix TEXT]
 * Without --rate all members arrive together. Prints one JSON object. Exit code: 0, 64 for wrong
 * usage.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/coupon_rush.h"
#include "bench/program.h"
#include "lib/base/secret.h"

enum { GRACE_US = 5000000, SLUG_ROOM = 64, PREFIX_ROOM = 32 };

static void print_latency(const struct histogram *latency)
{
    printf(
        "\"count\":%llu,\"p50Ms\":%.2f,\"p90Ms\":%.2f,\"p95Ms\":%.2f,\"p99Ms\":%.2f,\"maxMs\":%.2f",
        (unsigned long long)latency->count, histogram_quantile_ms(latency, 0.5),
        histogram_quantile_ms(latency, 0.9), histogram_quantile_ms(latency, 0.95),
        histogram_quantile_ms(latency, 0.99), (double)latency->longest_us / 1000);
}

static void print_statuses(const uint64_t statuses[RUSH_STATUSES])
{
    const char *separator = "";

    printf(",\"statuses\":{");
    for (int status = 0; status < RUSH_STATUSES; status++) {
        if (statuses[status] > 0) {
            printf("%s\"%d\":%llu", separator, status, (unsigned long long)statuses[status]);
            separator = ",";
        }
    }
    printf("}");
}

static uint64_t errors(const struct rush_result *result)
{
    uint64_t count = result->dropped + result->unanswered;

    for (int kind = 0; kind < RUSH_REQUESTS; kind++) {
        for (int status = 0; status < RUSH_STATUSES; status++) {
            if (status != 200 && status != 201) {
                count += result->statuses[kind][status];
            }
        }
    }
    return count;
}

static void print(const struct rush_options *options, const struct rush_result *result)
{
    static struct histogram all;

    for (int kind = 0; kind < RUSH_REQUESTS; kind++) {
        histogram_merge(&all, &result->latency[kind]);
    }
    printf("{\"ratePerSecond\":%u,\"seconds\":%.2f,\"sent\":%llu,\"achievedPerSecond\":%.1f,",
           options->rate, result->sending_s, (unsigned long long)result->sent,
           result->sending_s > 0 ? (double)result->sent / result->sending_s : 0);
    print_latency(&all);
    printf(",\"errors\":%llu,\"dropped\":%llu,\"unanswered\":%llu,\"issued\":%llu,"
           "\"withoutRetryAfter\":%llu,\"senderLateP99Ms\":%.2f",
           (unsigned long long)errors(result), (unsigned long long)result->dropped,
           (unsigned long long)result->unanswered, (unsigned long long)result->issued,
           (unsigned long long)result->curt, histogram_quantile_ms(&result->lateness, 0.99));
    for (int kind = 0; kind < RUSH_REQUESTS; kind++) {
        printf(",\"%s\":{", rush_request_name((enum rush_request)kind));
        print_latency(&result->latency[kind]);
        print_statuses(result->statuses[kind]);
        printf("}");
    }
    printf("}\n");
}

static uint32_t number(const char *text, uint32_t least, uint32_t most)
{
    return (uint32_t)program_number("sluice-load", text, least, most);
}

static bool read_options(int argc, char **argv, struct rush_options *options, const char **key_file)
{
    static const struct option NAMES[] = {
        {"port", required_argument, NULL, 'p'},    {"key", required_argument, NULL, 'k'},
        {"queue", required_argument, NULL, 'q'},   {"event", required_argument, NULL, 'e'},
        {"rate", required_argument, NULL, 'r'},    {"seconds", required_argument, NULL, 's'},
        {"members", required_argument, NULL, 'm'}, {"connections", required_argument, NULL, 'c'},
        {"prefix", required_argument, NULL, 'x'},  {NULL, 0, NULL, 0}};

    for (int name; (name = getopt_long(argc, argv, "", NAMES, NULL)) != -1;) {
        switch (name) {
        case 'p':
            options->port = (int)number(optarg, 1, 65535);
            break;
        case 'k':
            *key_file = optarg;
            break;
        case 'q':
            options->queue = optarg;
            break;
        case 'e':
            options->event = optarg;
            break;
        case 'r':
            options->rate = number(optarg, 1, 1000000);
            break;
        case 's':
            options->seconds = number(optarg, 1, 3600);
            break;
        case 'm':
            options->members = number(optarg, 1, 10000000);
            break;
        case 'c':
            options->connections = number(optarg, 1, 20000);
            break;
        case 'x':
            options->prefix = optarg;
            break;
        default:
            return false;
        }
    }
    return options->port > 0 && *key_file != NULL && options->queue != NULL &&
           options->event != NULL && strlen(options->queue) < SLUG_ROOM &&
           strlen(options->event) < SLUG_ROOM && strlen(options->prefix) < PREFIX_ROOM;
}

int main(int argc, char **argv)
{
    static struct rush_result result;
    struct rush_options options = {.prefix = "load-",
                                   .members = 1000000,
                                   .connections = 4000,
                                   .seconds = 60,
                                   .grace_us = GRACE_US};
    const char *key_file = NULL;
    char error[SECRET_ERROR];
    char *secret;
    size_t length;

    if (!read_options(argc, argv, &options, &key_file)) {
        (void)fprintf(stderr,
                      "usage: sluice-load --port N --key FILE --queue Q --event E [--rate N] "
                      "[--seconds N] [--members N] [--connections N] [--prefix TEXT]\n");
        return PROGRAM_USAGE;
    }
    program_raise_file_limit();
    if (!secret_read(key_file, &secret, &length, error)) {
        (void)fprintf(stderr, "sluice-load: %s\n", error);
        return PROGRAM_USAGE;
    }
    options.key = mac_key_new((struct str){secret, strcspn(secret, "\r\n")});
    secret_free(secret, length);
    rush_run(&options, &result);
    print(&options, &result);
    mac_key_free(options.key);
    return 0;
}
