/*
 * settings_row — the rows of settings.tbl as data, and access to single values. Internal to
 * lib/settings.
 */
#ifndef SLUICE_SETTINGS_SETTINGS_ROW_H
#define SLUICE_SETTINGS_SETTINGS_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/str.h"
#include "lib/settings/settings.h"

enum setting_kind {
    SETTING_TEXT,
    SETTING_CHOICE,
    SETTING_PATH,
    SETTING_SECRET_PATH,
    SETTING_CONNINFO,
    SETTING_INTEGER,
    SETTING_BOOLEAN
};

struct setting_row {
    const char *name;
    enum setting_kind kind;
    int64_t minimum;
    int64_t maximum;
    const char *initial;
    const char *unit;
    const char *description;
    size_t offset; /* of the field in struct settings */
};

enum { SETTING_ALLOWED = 160 };

/** Number of rows. */
size_t setting_row_count(void);

/** Row `i`, in the order of the table. */
const struct setting_row *setting_row(size_t i);

/** Sets `*i` to the index of the row named `name`; returns false if there is none. */
bool setting_row_find(struct str name, size_t *i);

/** The field of a row of a text kind. */
const char **setting_text(struct settings *settings, const struct setting_row *row);

/** Describes the allowed values, e.g. "a whole number from 1 to 9 (ms)". */
void setting_allowed(const struct setting_row *row, char out[SETTING_ALLOWED]);

/** Sets the field from `value`. Returns false, nothing changed, if `value` is not allowed. */
bool setting_set(struct settings *settings, const struct setting_row *row, struct str value);

/** Formats the value of an integer or boolean row as in a settings file. */
void setting_number_text(const struct settings *settings, const struct setting_row *row,
                         char out[32]);

#endif
