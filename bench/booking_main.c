/*
 * Usage: sluice-booking --port N --members FILE --queue Q --shows N --rate N --seconds N [--first-show N]
 *                       [--think-ms N] [--enter]
 * See bench/booking.h. Prints one JSON object. Exit code: 0, 64 for wrong usage.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/booking.h"
#include "bench/program.h"

static const char *const STEP_NAMES[] = {"enter", "position", "map", "hold", "order"};

static void print(const struct booking_options *options, const struct booking_result *result)
{
    printf(
        "{\"membersPerSecond\":%u,\"seconds\":%u,\"booked\":%llu,\"gaveUp\":%llu,\"unfinished\":%u,"
        "\"dropped\":%llu,\"senderLateP99Ms\":%.2f",
        options->rate, options->seconds, (unsigned long long)result->booked,
        (unsigned long long)result->gave_up, result->under_way, (unsigned long long)result->dropped,
        histogram_quantile_ms(&result->lateness, 0.99));
    for (int step = 0; step < BOOKING_STEPS; step++) {
        const struct histogram *latency = &result->latency[step];
        const char *separator = "";
        printf(
            ",\"%s\":{\"count\":%llu,\"p50Ms\":%.2f,\"p95Ms\":%.2f,\"p99Ms\":%.2f,\"maxMs\":%.2f,"
            "\"statuses\":{",
            STEP_NAMES[step], (unsigned long long)latency->count,
            histogram_quantile_ms(latency, 0.5), histogram_quantile_ms(latency, 0.95),
            histogram_quantile_ms(latency, 0.99), (double)latency->longest_us / 1000);
        for (int status = 0; status < BOOKING_STATUSES; status++) {
            if (result->statuses[step][status] > 0) {
                printf("%s\"%d\":%llu", separator, status,
                       (unsigned long long)result->statuses[step][status]);
                separator = ",";
            }
        }
        printf("}}");
    }
    printf("}\n");
}

static uint32_t number(const char *text, uint32_t least, uint32_t most)
{
    return (uint32_t)program_number("sluice-booking", text, least, most);
}

static bool read_options(int argc, char **argv, struct booking_options *options)
{
    static const struct option NAMES[] = {{"port", required_argument, NULL, 'p'},
                                          {"members", required_argument, NULL, 'm'},
                                          {"queue", required_argument, NULL, 'q'},
                                          {"shows", required_argument, NULL, 'h'},
                                          {"rate", required_argument, NULL, 'r'},
                                          {"seconds", required_argument, NULL, 's'},
                                          {"first-show", required_argument, NULL, 'f'},
                                          {"think-ms", required_argument, NULL, 't'},
                                          {"enter", no_argument, NULL, 'e'},
                                          {NULL, 0, NULL, 0}};

    for (int name; (name = getopt_long(argc, argv, "", NAMES, NULL)) != -1;) {
        switch (name) {
        case 'p':
            options->port = (int)number(optarg, 1, 65535);
            break;
        case 'm':
            options->file = optarg;
            break;
        case 'q':
            options->queue = optarg;
            break;
        case 'h':
            options->shows = number(optarg, 1, 10000);
            break;
        case 'r':
            options->rate = number(optarg, 1, 100000);
            break;
        case 's':
            options->seconds = number(optarg, 1, 3600);
            break;
        case 'f':
            options->first_show = number(optarg, 0, 1000000);
            break;
        case 't':
            options->think_us = (int64_t)number(optarg, 0, 60000) * 1000;
            break;
        case 'e':
            options->enters = true;
            break;
        default:
            return false;
        }
    }
    return options->port > 0 && options->file != NULL && options->queue != NULL &&
           options->shows > 0 && options->rate > 0 && options->seconds > 0 && optind == argc;
}

int main(int argc, char **argv)
{
    static struct booking_result result;
    struct booking_options options = {.think_us = 2000000};

    if (!read_options(argc, argv, &options)) {
        (void)fprintf(stderr,
                      "usage: sluice-booking --port N --members FILE --queue Q --shows N --rate N "
                      "--seconds N [--first-show N] [--think-ms N] [--enter]\n");
        return PROGRAM_USAGE;
    }
    program_raise_file_limit();
    booking_run(&options, &result);
    print(&options, &result);
    return 0;
}
