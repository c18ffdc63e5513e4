/*
 * opening_plan — an opening simulated second by second, with the arithmetic of promotion and of the
 * autopilot: who waits how long, how often the crowd polls, what Redis keeps. Pure; the same plan
 * gives the same forecast.
 */
#ifndef SLUICE_ADMISSION_OPENING_PLAN_H
#define SLUICE_ADMISSION_OPENING_PLAN_H

#include <stdbool.h>
#include <stdint.h>

enum { PLAN_SECONDS_MAX = 7 * 24 * 3600 }; /* a longer line is not simulated to its end */

struct opening_plan {
    int64_t users;
    double rate;         /* members a second */
    double no_shows;     /* share that never comes for the token, 0..0.95 */
    int64_t arrive_s;    /* they come evenly over so long; 0: all are there at the opening */
    int64_t max_active;  /* places */
    int64_t visit_s;     /* from being let in to the end of the order or visit, ≥ 1 */
    int64_t pickup_s;    /* how long a no-show keeps the place */
    double capacity;     /* orders a second that the shop bears; 0: no limit is known */
    bool autopilot;      /* the rate follows: between 1 and `ceiling` */
    double ceiling;      /* members a second */
    double order_p95_ms; /* its level */
};

struct opening_forecast {
    int64_t ends_s;    /* when the last one was let in, after the opening */
    bool complete;     /* false: somebody still waited when the simulation ended */
    double wait_p50_s; /* of all who waited */
    double wait_p95_s;
    double wait_longest_s;
    int64_t longest_line;
    int64_t most_active;
    double most_polls; /* a second, by the default tiers */
    double mean_polls;
    double most_entries;   /* requests to enter, a second */
    double most_orders;    /* a second */
    double last_rate;      /* in force at the end */
    bool overloaded;       /* at some time more orders came than the shop bears */
    bool room_limits;      /* maxActive, not the rate, decided how many were let in */
    int64_t redis_bytes;   /* with the longest line */
    int64_t queue_workers; /* processes, at half of what a core can do */
    int64_t order_workers;
};

/** Simulates the opening. */
void opening_plan_run(const struct opening_plan *plan, struct opening_forecast *forecast);

#endif
