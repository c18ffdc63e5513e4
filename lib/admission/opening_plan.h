/*
 * opening_plan — simulates an opening second by second, with the arithmetic of promotion and of the
 * autopilot: how long members wait, how often they poll, how much memory Redis needs. Pure and
 * deterministic.
 */
#ifndef SLUICE_ADMISSION_OPENING_PLAN_H
#define SLUICE_ADMISSION_OPENING_PLAN_H

#include <stdbool.h>
#include <stdint.h>

enum { PLAN_SECONDS_MAX = 7 * 24 * 3600 }; /* a longer line is not simulated to its end */

struct opening_plan {
    int64_t users;
    double rate;         /* members per second */
    double no_shows;     /* share that never picks up the token, 0..0.95 */
    int64_t arrive_s;    /* members arrive evenly over this time; 0: all wait at the opening */
    int64_t max_active;  /* places */
    int64_t visit_s;     /* from admission to the end of the order or visit, ≥ 1 */
    int64_t pickup_s;    /* how long a no-show occupies the place */
    double capacity;     /* orders per second that the shop can serve; 0: no limit known */
    bool autopilot;      /* the rate varies between 1 and `ceiling` */
    double ceiling;      /* members a second */
    double order_p95_ms; /* its service level */
};

struct opening_forecast {
    int64_t ends_s;    /* when the last member was admitted, after the opening */
    bool complete;     /* false: members were still waiting when the simulation ended */
    double wait_p50_s; /* of all who waited */
    double wait_p95_s;
    double wait_longest_s;
    int64_t longest_line;
    int64_t most_active;
    double most_polls; /* per second, by the default tiers */
    double mean_polls;
    double most_entries;   /* requests to enter, per second */
    double most_orders;    /* per second */
    double last_rate;      /* in force at the end */
    bool overloaded;       /* at some time orders exceeded the capacity */
    bool room_limits;      /* at some time maxActive, not the rate, limited admissions */
    int64_t redis_bytes;   /* at the longest line */
    int64_t queue_workers; /* processes, at half of a core's capacity */
    int64_t order_workers;
};

/** Simulates the opening. */
void opening_plan_run(const struct opening_plan *plan, struct opening_forecast *forecast);

#endif
