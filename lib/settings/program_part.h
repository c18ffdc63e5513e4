/*
 * program_part — one settings file for all programs, each of which has a name, a key or a password
 * of its own in the stores: `{program}` in a setting is the program that reads it.
 */
#ifndef SLUICE_SETTINGS_PROGRAM_PART_H
#define SLUICE_SETTINGS_PROGRAM_PART_H

#include "lib/settings/settings.h"

/** Puts `program` (order, say) in the place of each `{program}` in text, paths and conninfo; a
 *  value that would grow beyond its row's maximum stays as it is. */
void settings_name_program(struct settings *settings, const char *program);

#endif
