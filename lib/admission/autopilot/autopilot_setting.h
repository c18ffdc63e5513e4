/*
 * autopilot_setting — the setting `autopilot` of a queue: {"enabled", "orderP95Ms", "originP95Ms",
 * "maxErrorPercent", "floor", "ceiling", "noShows"}, or null.
 */
#ifndef SLUICE_ADMISSION_AUTOPILOT_SETTING_H
#define SLUICE_ADMISSION_AUTOPILOT_SETTING_H

#include <stdbool.h>

#include <json-c/json.h>

#include "lib/admission/autopilot/autopilot.h"
#include "lib/admission/queues/queue_settings.h"
#include "lib/base/arena.h"

/** Checks a value; `*checked` gets it with defaults for missing members, a reference of the
 *  caller's own. Returns false with `*fault` filled if it is refused. */
bool autopilot_setting_check(json_object *value, struct arena *arena, json_object **checked,
                             struct queue_settings_fault *fault);

/** The goal for a queue whose operator has set `rate`. Without a ceiling the rate never rises above
 *  `rate`; a floor above either is ignored. Returns false if the autopilot is off: null,
 *  disabled, or a rate of 0, which stays 0. */
bool autopilot_setting_goal(json_object *value, double rate, struct autopilot_goal *goal);

#endif
