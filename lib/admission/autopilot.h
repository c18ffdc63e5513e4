/*
 * autopilot — what the rate of admissions should be, by what the orders and the site behind the
 * gate bear. Pure arithmetic: it asks nobody, and the clock is what it is told. The scheduler's
 * leader and the planner use it.
 *
 * Once a second: drops beyond the level cut the rate by a factor, latency beyond it by as much as
 * it is beyond, by a quarter at most, but not far below what is answered: the load of those who are
 * let in comes later than they. Within the level it grows, by a tenth a second at most and by a
 * fiftieth near where the level was broken last, the slower the longer they take to order; not
 * while the rate is not used up, nor while latency rises. Where nothing is known it neither grows
 * nor falls, but for going back to the operator's own rate.
 */
#ifndef SLUICE_ADMISSION_AUTOPILOT_H
#define SLUICE_ADMISSION_AUTOPILOT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/admission/load_view.h"
#include "lib/base/str.h"

/** The service level, and within what the rate may move. */
struct autopilot_goal {
    double order_p95_ms;
    double origin_p95_ms;
    double most_dropped; /* share of all, 0..1 */
    double start;        /* members a second, as the operator has set it */
    double floor;        /* 0 < floor <= ceiling */
    double ceiling;
    bool no_shows; /* more are let in where some do not come */
};

/** What is seen at one moment. Counts are since the queue's beginning. */
struct autopilot_look {
    int64_t now_ms;
    bool open; /* members may be let in at all */
    int64_t waiting;
    int64_t claimed; /* orders that run */
    int64_t ready;   /* let in, and not ordering yet */
    int64_t unseen;  /* let in, and the token not yet picked up */
    int64_t admitted;
    int64_t withdrawn; /* not picked up in time */
    bool moved;        /* the rate in force is what the memory says; else the operator's own */
    struct load_counts orders;
    struct load_counts origin;
};

/** What is kept from look to look; all zero at first. */
struct autopilot_memory {
    int64_t at_ms; /* of the last look, 0: there was none */
    struct load_counts orders;
    struct load_counts origin;
    int64_t admitted;
    int64_t withdrawn;
    int64_t decided; /* admitted and picked up, or withdrawn */
    struct load_view order_view;
    struct load_view origin_view;
    double rate;                /* of those who should arrive */
    double in_force;            /* with those added who will not come */
    double admitted_per_second; /* of the last seconds */
    double answered_per_second; /* orders, likewise */
    double decided_view;        /* of the last minute or two */
    double withdrawn_view;
    double usual_ms;   /* median latency of the last minute, slowly following */
    double broke_at;   /* rate at which the level was last broken, 0: never */
    int64_t broke_ms;  /* when */
    int64_t cut_ms;    /* when the rate was last cut */
    int64_t silent_ms; /* since when orders run and none ends; 0: it is not so */
};

enum autopilot_reason {
#define REASON(name, word, description) AUTOPILOT_##name,
#include "lib/admission/autopilot_reasons.tbl"
#undef REASON
    AUTOPILOT_REASONS
};

/** What comes of a look. */
struct autopilot_verdict {
    enum autopilot_reason reason;
    bool moved;
    double before; /* rate in force, members a second */
    double rate;
    double dropped; /* shares, 0..1 */
    double no_shows;
};

/** The reason's word, as it stands in moves and logs. */
const char *autopilot_word(enum autopilot_reason reason);

/** Takes a look into `memory` and says what the rate is to be. `goal` NULL: it is off, and only
 *  the load is followed. */
void autopilot_step(const struct autopilot_goal *goal, const struct autopilot_look *look,
                    struct autopilot_memory *memory, struct autopilot_verdict *verdict);

/** How many more are let in for those who do not come: 1..2. */
double autopilot_allowance(const struct autopilot_memory *memory);

enum { AUTOPILOT_MEMORY_TEXT = 8192 };

/** The memory as text, and back. Reading returns false, with an empty memory, for anything that
 *  is not such a text. */
void autopilot_memory_write(const struct autopilot_memory *memory,
                            char text[AUTOPILOT_MEMORY_TEXT]);
bool autopilot_memory_read(struct str text, struct autopilot_memory *memory);

#endif
