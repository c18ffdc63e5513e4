/*
 * autopilot — computes the admission rate that the orders, and the site behind the gate, can bear.
 * Pure arithmetic: no I/O, and the time is an argument. Used by the scheduler's leader and the
 * planner.
 *
 * One step a second: drops above the service level cut the rate by a fixed factor; latency above it
 * cuts in proportion, by at most a quarter, but not far below the rate of answered orders, because
 * the load of admitted members arrives with a delay. Within the level the rate grows by at most a
 * tenth a second, by a fiftieth near the rate at which the level was last broken, and more slowly
 * the longer members take to order; not while the rate is not used up, nor while latency rises.
 * Without data it neither grows nor falls, except back to the operator's own rate.
 */
#ifndef SLUICE_ADMISSION_AUTOPILOT_H
#define SLUICE_ADMISSION_AUTOPILOT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/admission/autopilot/load_view.h"
#include "lib/base/str.h"

/** The service level, and the range in which the rate may move. */
struct autopilot_goal {
    double order_p95_ms;
    double origin_p95_ms;
    double most_dropped; /* share of all, 0..1 */
    double start;        /* members per second, as set by the operator */
    double floor;        /* 0 < floor <= ceiling */
    double ceiling;
    bool no_shows; /* admit more to make up for members who do not come */
};

/** The input of one step. Counts are since the queue was created. */
struct autopilot_look {
    int64_t now_ms;
    bool open; /* members may be admitted at all */
    int64_t waiting;
    int64_t claimed; /* running orders */
    int64_t ready;   /* admitted, and not ordering yet */
    int64_t unseen;  /* admitted, and the token not picked up yet */
    int64_t admitted;
    int64_t withdrawn; /* not picked up in time */
    bool moved;        /* the rate in force is the memory's; else the operator's own */
    struct load_counts orders;
    struct load_counts origin;
};

/** The state kept between steps; all zero at first. */
struct autopilot_memory {
    int64_t at_ms; /* of the last step, 0: none */
    struct load_counts orders;
    struct load_counts origin;
    int64_t admitted;
    int64_t withdrawn;
    int64_t decided; /* admitted and picked up, or withdrawn */
    struct load_view order_view;
    struct load_view origin_view;
    double rate;                /* of members who should arrive */
    double in_force;            /* rate plus the allowance for no-shows */
    double admitted_per_second; /* over the last seconds */
    double answered_per_second; /* orders, likewise */
    double decided_view;        /* over the last minute or two */
    double withdrawn_view;
    double usual_ms;   /* median latency of the last minute, slowly following */
    double broke_at;   /* rate at which the level was last broken, 0: never */
    int64_t broke_ms;  /* when */
    int64_t cut_ms;    /* when the rate was last cut */
    int64_t silent_ms; /* since when orders have been running and none has ended; 0: not so */
};

enum autopilot_reason {
#define REASON(name, word, description) AUTOPILOT_##name,
#include "lib/admission/autopilot/autopilot_reasons.tbl"
#undef REASON
    AUTOPILOT_REASONS
};

/** The result of a step. */
struct autopilot_verdict {
    enum autopilot_reason reason;
    bool moved;
    double before; /* rate in force, members per second */
    double rate;
    double dropped; /* shares, 0..1 */
    double no_shows;
};

/** The reason's word in moves and logs. */
const char *autopilot_word(enum autopilot_reason reason);

/** Takes `look` into `memory` and decides the rate. `goal` NULL: the autopilot is off, and only the
 *  load is tracked. */
void autopilot_step(const struct autopilot_goal *goal, const struct autopilot_look *look,
                    struct autopilot_memory *memory, struct autopilot_verdict *verdict);

/** The factor by which more members are admitted to make up for no-shows: 1..2. */
double autopilot_allowance(const struct autopilot_memory *memory);

enum { AUTOPILOT_MEMORY_TEXT = 8192 };

/** Writes the memory as text, and reads it back. Reading returns false, with an empty memory, for
 *  any other text. */
void autopilot_memory_write(const struct autopilot_memory *memory,
                            char text[AUTOPILOT_MEMORY_TEXT]);
bool autopilot_memory_read(struct str text, struct autopilot_memory *memory);

#endif
