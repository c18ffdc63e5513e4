/*
 * autopilot_store — the autopilot's looks and notes in Redis: see lua/autopilot_look.lua and
 * autopilot_note.lua.
 */
#ifndef SLUICE_ADMISSION_AUTOPILOT_STORE_H
#define SLUICE_ADMISSION_AUTOPILOT_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/admission/autopilot.h"
#include "lib/admission/outcome.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis.h"

/** What Redis says of a queue at one moment. */
struct autopilot_sight {
    struct autopilot_look look;
    struct autopilot_memory memory;
    struct autopilot_goal goal;
    bool enabled;    /* there is a goal */
    bool any_load;   /* something was ever counted */
    int64_t version; /* of the settings; they and the turn fence what is noted */
    int64_t turn;
};

/** Looks: OK, NOT_FOUND, or ADMISSION_UNAVAILABLE. */
enum outcome autopilot_look_at(struct redis *redis, struct arena *arena, struct str queue,
                               struct autopilot_sight *sight);

/** Puts down what has come of `sight`, whose memory has taken the step: NOTED, NOT_LEADER, OLDER
 *  (somebody else has noted or set something since), NOT_FOUND, or ADMISSION_UNAVAILABLE. Only
 *  NOTED has moved anything. */
enum outcome autopilot_note(struct redis *redis, struct arena *arena, struct str queue,
                            struct str owner, const struct autopilot_sight *sight,
                            const struct autopilot_verdict *verdict);

#endif
