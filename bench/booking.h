/*
 * booking — members who book a seat, as an open model: a fixed number of them arrives each second;
 * each reads the seat map, holds a seat (three tries, then the map again, three maps at most) and
 * orders it, with think time before the hold and before the order. A latency counts from the moment
 * at which the member intended to send the request.
 */
#ifndef SLUICE_BENCH_BOOKING_H
#define SLUICE_BENCH_BOOKING_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/histogram.h"

enum booking_step {
    BOOKING_ENTER,
    BOOKING_POSITION,
    BOOKING_MAP,
    BOOKING_HOLD,
    BOOKING_ORDER,
    BOOKING_STEPS
};

enum { BOOKING_STATUSES = 600 };

struct booking_options {
    int port;
    const char
        *file; /* each member's headers, NUL-terminated: login, and entry token unless `enters` */
    const char *queue;
    uint32_t first_show; /* shows are called bench-N, from this one on */
    uint32_t shows;      /* members take them in turns */
    uint32_t rate;       /* members a second */
    uint32_t seconds;    /* how long they arrive; those in progress then have 20 s more */
    int64_t think_us;
    bool enters; /* each enters the queue first and polls as told */
};

/** The results. Zeroed before the run; answers by status in `statuses`, 0 for a lost
 *  connection. */
struct booking_result {
    struct histogram latency[BOOKING_STEPS];
    struct histogram lateness; /* of the sender itself */
    uint64_t statuses[BOOKING_STEPS][BOOKING_STATUSES];
    uint64_t dropped; /* no connection was free */
    uint64_t booked;
    uint64_t gave_up;
    uint32_t under_way; /* unfinished when the time was over */
};

/** Runs to the end. Exits the process if there is no memory or no such file. */
void booking_run(const struct booking_options *options, struct booking_result *result);

#endif
