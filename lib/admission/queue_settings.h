/*
 * queue_settings — the settings of a queue: checked, merged, shown to operators and flattened for
 * Redis, all of it by the rows of queue_settings.tbl.
 * A complete set is a JSON object with every setting in the table's order, as PostgreSQL stores it.
 */
#ifndef SLUICE_ADMISSION_QUEUE_SETTINGS_H
#define SLUICE_ADMISSION_QUEUE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"

enum setting_kind {
    SETTING_INTEGER,
    SETTING_NUMBER,
    SETTING_BOOLEAN,
    SETTING_TEXT,
    SETTING_TIME,
    SETTING_CHOICE,
    SETTING_JSON
};

struct queue_setting {
    const char *name; /* on the wire, in PostgreSQL and in Redis */
    enum setting_kind kind;
    int64_t minimum;
    int64_t maximum;
    const char *default_json;
    const char *unit;
    const char *description;
};

enum queue_setting_number {
#define SETTING(name, kind, minimum, maximum, default_json, unit, description) QUEUE_SETTING_##name,
#include "lib/admission/queue_settings.tbl"
#undef SETTING
    QUEUE_SETTING_COUNT
};

/** What is wrong with given settings. Both live in the arena. */
struct queue_settings_fault {
    const char *pointer;  /* JSON pointer (RFC 6901) */
    const char *sentence; /* with the allowed range */
};

/** The row of a setting; never NULL. */
const struct queue_setting *queue_setting(enum queue_setting_number number);

/** Defaults plus `given`: what PUT stores. Fields of queue_settings_shown()'s surroundings that are
 *  no settings (queue, state, epoch, …) are overlooked, so that what GET gives PUT takes.
 *  The result is complete and belongs to the arena; NULL with `*fault` filled where something is
 *  refused. */
json_object *queue_settings_replace(struct arena *arena, json_object *given,
                                    struct queue_settings_fault *fault);

/** `stored` plus `given`: what PATCH stores. Only settings may be named; what `stored` has
 *  beyond those that we know, by a later release, stays. Otherwise as above. */
json_object *queue_settings_change(struct arena *arena, json_object *stored, json_object *given,
                                   struct queue_settings_fault *fault);

/** Adds every setting of `stored` to `answer`, in the table's order: what is missing shows its
 *  default, an automatic burst the number that it comes to. */
void queue_settings_show(json_object *stored, json_object *answer);

/** Writes name, value, name, value, … for the settings hash in Redis: times in ms or '', plain
 *  decimals, booleans as 1 or 0, JSON as text, null as ''. Text lives in the arena or is
 *  borrowed from `stored`. */
void queue_settings_flatten(struct arena *arena, json_object *stored,
                            struct str fields[2 * QUEUE_SETTING_COUNT]);

/** Within what the rate in force may be moved. */
struct queue_rates {
    struct str floor; /* plain decimals; empty: there is no autopilot, the rate is what is set */
    struct str ceiling;
    bool burst_is_automatic; /* so that it follows the rate in force */
};

/** What `stored` says of it; text in the arena. */
void queue_settings_rates(struct arena *arena, json_object *stored, struct queue_rates *rates);

/** The state that everyone sees, by settings, clock and what PostgreSQL knows: PRE_OPEN, OPEN,
 *  PAUSED, DRAINING, SOLD_OUT or CLOSED. `operator_state` is one of OPEN, PAUSED, DRAINING,
 *  SOLD_OUT. */
const char *queue_settings_state(json_object *stored, const char *operator_state, bool sold_out,
                                 int64_t now_ms);

#endif
