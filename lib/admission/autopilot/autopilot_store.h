/*
 * autopilot_store — reads the autopilot's input from Redis and records its decisions there: see
 * lua/autopilot/autopilot_look.lua and autopilot_note.lua; and both for operators, see
 * autopilot_read.lua.
 */
#ifndef SLUICE_ADMISSION_AUTOPILOT_STORE_H
#define SLUICE_ADMISSION_AUTOPILOT_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/admission/autopilot/autopilot.h"
#include "lib/admission/outcome.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis.h"

/** A queue in Redis at one moment. */
struct autopilot_sight {
    struct autopilot_look look;
    struct autopilot_memory memory;
    struct autopilot_goal goal;
    bool enabled;    /* there is a goal */
    bool any_load;   /* something was ever counted */
    int64_t version; /* of the settings; with turn it fences what is recorded */
    int64_t turn;
};

/** Reads `sight`: OK, NOT_FOUND, or ADMISSION_UNAVAILABLE. */
enum outcome autopilot_look_at(struct redis *redis, struct arena *arena, struct str queue,
                               struct autopilot_sight *sight);

/** Records the decision made from `sight`, whose memory has taken the step: NOTED, NOT_LEADER,
 *  OLDER (a newer decision or setting was recorded since), NOT_FOUND, or ADMISSION_UNAVAILABLE.
 *  Only NOTED has changed anything. */
enum outcome autopilot_note(struct redis *redis, struct arena *arena, struct str queue,
                            struct str owner, const struct autopilot_sight *sight,
                            const struct autopilot_verdict *verdict);

/** The rate in force and how it came about. Text is borrowed from the reply, and empty if there is
 *  none. */
struct autopilot_history {
    struct str rate; /* the setting ratePerSecond, a decimal */
    int64_t in_force_milli;
    struct str floor; /* decimals in force; empty while the autopilot is off */
    struct str ceiling;
    struct str setting;      /* the queue's `autopilot`, JSON */
    struct str last;         /* the last evaluation, JSON */
    const struct str *moves; /* JSON, oldest first */
    size_t move_count;
};

/** Reads `history`: OK, NOT_FOUND, or ADMISSION_UNAVAILABLE. */
enum outcome autopilot_history_read(struct redis *redis, struct arena *arena, struct str queue,
                                    struct autopilot_history *history);

#endif
