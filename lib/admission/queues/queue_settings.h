/*
 * queue_settings — the settings of a queue: validated, merged, shown to operators and flattened for
 * Redis, driven by the rows of queue_settings.tbl.
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

enum queue_setting_kind {
    QUEUE_SETTING_KIND_INTEGER,
    QUEUE_SETTING_KIND_NUMBER,
    QUEUE_SETTING_KIND_BOOLEAN,
    QUEUE_SETTING_KIND_TEXT,
    QUEUE_SETTING_KIND_TIME,
    QUEUE_SETTING_KIND_CHOICE,
    QUEUE_SETTING_KIND_JSON
};

struct queue_setting {
    const char *name; /* in the API, in PostgreSQL and in Redis */
    enum queue_setting_kind kind;
    int64_t minimum;
    int64_t maximum;
    const char *default_json;
    const char *unit;
    const char *description;
};

enum queue_setting_number {
#define SETTING(name, kind, minimum, maximum, default_json, unit, description) QUEUE_SETTING_##name,
#include "lib/admission/queues/queue_settings.tbl"
#undef SETTING
    QUEUE_SETTING_COUNT
};

/** Why settings were refused. Both texts live in the arena. */
struct queue_settings_fault {
    const char *pointer;  /* JSON pointer (RFC 6901) */
    const char *sentence; /* with the allowed range */
};

/** The row of a setting; never NULL. */
const struct queue_setting *queue_setting(enum queue_setting_number number);

/** Defaults plus `given`: what PUT stores. Other fields that GET shows beside the settings (queue,
 *  state, epoch, …) are ignored, so that the response of GET can be PUT. The result is complete and
 *  belongs to the arena; NULL with `*fault` filled if something is refused. */
json_object *queue_settings_replace(struct arena *arena, json_object *given,
                                    struct queue_settings_fault *fault);

/** `stored` plus `given`: what PATCH stores. `given` may name settings only; unknown fields of
 *  `stored`, from a later release, are kept. Otherwise as above. */
json_object *queue_settings_change(struct arena *arena, json_object *stored, json_object *given,
                                   struct queue_settings_fault *fault);

/** Adds every setting of `stored` to `answer`, in the table's order: a missing one with its
 *  default, an automatic burst as the resulting number. */
void queue_settings_show(json_object *stored, json_object *answer);

/** Writes name, value, name, value, … for the settings hash in Redis: times in ms or '', plain
 *  decimals, booleans as 1 or 0, JSON as text, null as ''. Text lives in the arena or is
 *  borrowed from `stored`. */
void queue_settings_flatten(struct arena *arena, json_object *stored,
                            struct str fields[2 * QUEUE_SETTING_COUNT]);

/** The range in which the rate in force may move. */
struct queue_rates {
    struct str floor; /* plain decimals; empty: no autopilot, the rate is the setting */
    struct str ceiling;
    bool burst_is_automatic; /* the burst follows the rate in force */
};

/** Derives the range from `stored`; text in the arena. */
void queue_settings_rates(struct arena *arena, json_object *stored, struct queue_rates *rates);

/** The public state, from settings, clock and PostgreSQL's finding: PRE_OPEN, OPEN, PAUSED,
 *  DRAINING, SOLD_OUT or CLOSED. `operator_state` is one of OPEN, PAUSED, DRAINING, SOLD_OUT. */
const char *queue_settings_state(json_object *stored, const char *operator_state, bool sold_out,
                                 int64_t now_ms);

#endif
