/*
 * setting_arguments — queue settings on the command line: `rate=100` becomes {"ratePerSecond":
 * 100}. A setting has its wire name and a short name derived from it: words joined by '-', without
 * the unit at the end (ratePerSecond: rate; entryTtlSeconds: entry-ttl).
 */
#ifndef SLUICE_SLUICECTL_SETTING_ARGUMENTS_H
#define SLUICE_SLUICECTL_SETTING_ARGUMENTS_H

#include <json-c/json.h>

#include "lib/admission/queues/queue_settings.h"
#include "lib/base/arena.h"

/** The short name of a setting, in the arena. */
const char *setting_short_name(struct arena *arena, const struct queue_setting *setting);

/** Reads `count` arguments key=value into a new object (json_object_put() it). NULL, with a
 *  message, if a name is unknown or a value not of its setting's type; ranges are checked by the
 *  server. */
json_object *setting_arguments_read(struct arena *arena, char **arguments, int count);

/** Prints all settings: names, default, range, meaning. */
void setting_arguments_help(struct arena *arena);

#endif
