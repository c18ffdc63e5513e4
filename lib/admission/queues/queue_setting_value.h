/*
 * queue_setting_value — checks one value of one setting against its row, and normalizes it.
 */
#ifndef SLUICE_ADMISSION_QUEUE_SETTING_VALUE_H
#define SLUICE_ADMISSION_QUEUE_SETTING_VALUE_H

#include <stdbool.h>

#include <json-c/json.h>

#include "lib/admission/queues/queue_settings.h"
#include "lib/base/arena.h"

/** Checks `value` (NULL is JSON's null) against the row. `*checked` gets the value as it is stored,
 *  a reference of the caller's own: times in UTC, integers without a fraction, an empty text as
 *  null. Returns false with `*fault` filled if it is refused. */
bool queue_setting_check(const struct queue_setting *setting, json_object *value,
                         struct arena *arena, json_object **checked,
                         struct queue_settings_fault *fault);

/** Fills `fault`: the pointer names the setting and, unless "", the part `below` it ("/0/seconds").
 *  Returns false. */
bool queue_setting_refuse(struct arena *arena, struct queue_settings_fault *fault, const char *name,
                          const char *below, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/** `name` as a reference token of a JSON pointer, in the arena. */
const char *json_pointer_token(struct arena *arena, const char *name);

/** The number, rounded to six decimal places, as JSON: an integer if it is then integral, else a
 *  decimal. */
json_object *queue_setting_number_json(double number);

/** Whether a setting of that name exists. */
bool queue_setting_is_known(const char *name);

/** Copies to `merged` what `base` (NULL: nothing) has under unknown names: a later release may have
 *  stored it. */
void queue_settings_keep_unknown(json_object *base, json_object *merged);

#endif
