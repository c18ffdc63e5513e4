/*
 * settings — the programs' settings, one field per row of settings.tbl.
 * Sources, later ones take precedence: default, file (`key = value`, comments on lines of their own
 * with '#'), environment (SLUICE_<NAME>). An invalid setting stops the program with one sentence.
 */
#ifndef SLUICE_SETTINGS_SETTINGS_H
#define SLUICE_SETTINGS_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct arena;

enum { SETTINGS_ERROR = 512, SETTINGS_FILE_MAX = 64 * 1024 };

#define SETTING_FIELD_TEXT        const char *
#define SETTING_FIELD_CHOICE      const char *
#define SETTING_FIELD_PATH        const char *
#define SETTING_FIELD_SECRET_PATH const char *
#define SETTING_FIELD_CONNINFO    const char *
#define SETTING_FIELD_INTEGER     int64_t
#define SETTING_FIELD_BOOLEAN     bool

/** Text is never NULL: an unset setting is "". */
struct settings {
    struct arena *memory; /* owns the text */
#define SETTING(name, kind, minimum, maximum, initial, unit, description) SETTING_FIELD_##kind name;
#include "lib/settings/settings.tbl"
#undef SETTING
};

/** Fills `settings` from the defaults, the file at `path` (NULL or "": none) and the environment;
 *  free it with settings_free(). Returns false for an unknown, repeated or invalid setting: `error`
 *  then has one sentence that names file, line and the allowed values, and there is nothing to
 *  free. */
bool settings_load(const char *path, struct settings *settings, char error[SETTINGS_ERROR]);

/** Frees the text. A zeroed `settings` is allowed. */
void settings_free(struct settings *settings);

/** The element for Redis in the names of settings_require(). */
#define SETTINGS_REDIS "redis_socket|redis_address|redis_sentinels|redis_cluster"

/** True when each of `names` (setting names, ended by NULL; "a|b": one of them suffices) is set.
 *  Otherwise `error` names the first missing one. A name that is no text setting is a defect and
 *  aborts the process. */
bool settings_require(const struct settings *settings, const char *const names[],
                      char error[SETTINGS_ERROR]);

/** Prints every setting as a line of the settings file. Paths of secrets are printed, their content
 *  is not; a password in postgres_conninfo is masked. */
void settings_print(FILE *stream, const struct settings *settings);

/** Prints the meaning of every setting: kind, range, unit, default. */
void settings_help(FILE *stream);

#endif
