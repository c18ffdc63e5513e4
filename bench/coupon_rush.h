/*
 * coupon_rush — members who enter a queue, poll their position and get a coupon, as an open model:
 * requests are sent at scheduled moments whether or not earlier ones are answered, and a latency
 * counts from the scheduled moment, not from the actual sending.
 */
#ifndef SLUICE_BENCH_COUPON_RUSH_H
#define SLUICE_BENCH_COUPON_RUSH_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/histogram.h"
#include "lib/identity/mac_key.h"

enum rush_request { RUSH_ENTER, RUSH_POSITION, RUSH_COUPON, RUSH_REQUESTS };

enum { RUSH_STATUSES = 600 };

struct rush_options {
    int port;
    struct mac_key *key; /* HS256, signs the members' logins */
    const char *queue;
    const char *event;
    const char *prefix; /* of member names; the number follows */
    uint32_t members;   /* most that may take part */
    uint32_t connections;
    uint32_t
        rate; /* requests a second; 0: all members enter together, and each goes on as it is told */
    int64_t seconds;  /* how long requests are sent */
    int64_t grace_us; /* how long to wait for their answers afterwards */
};

/** The results. Zeroed before the run; answers by status in `statuses`, 0 for a lost
 *  connection. */
struct rush_result {
    struct histogram latency[RUSH_REQUESTS];
    uint64_t statuses[RUSH_REQUESTS][RUSH_STATUSES];
    uint64_t sent;
    uint64_t dropped;    /* no connection was free */
    uint64_t unanswered; /* when the grace was over */
    uint64_t issued;
    uint64_t curt;             /* 503 and 429 without a Retry-After */
    double sending_s;          /* how long the sending took */
    struct histogram lateness; /* of the sender itself */
};

/** "enter", "position", "coupon". */
const char *rush_request_name(enum rush_request request);

/** Runs to the end. Exits the process if there is no memory. */
void rush_run(const struct rush_options *options, struct rush_result *result);

#endif
