/*
 * program_part — one settings file for all programs, each with its own user, key or password in the
 * stores: `{program}` in a setting is replaced by the name of the program that reads it.
 */
#ifndef SLUICE_SETTINGS_PROGRAM_PART_H
#define SLUICE_SETTINGS_PROGRAM_PART_H

#include "lib/settings/settings.h"

/** Replaces each `{program}` in text, paths and conninfo by `program` (for example "order"); a
 *  value that would exceed its row's maximum stays unchanged. */
void settings_name_program(struct settings *settings, const char *program);

#endif
