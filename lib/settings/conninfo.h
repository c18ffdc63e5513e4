/*
 * conninfo — prints a libpq connection string without its passwords.
 */
#ifndef SLUICE_SETTINGS_CONNINFO_H
#define SLUICE_SETTINGS_CONNINFO_H

#include "lib/base/buffer.h"
#include "lib/base/str.h"

/** Appends `conninfo` (keywords and values, or a URI) with "***" for each password; "***" alone
 *  if it cannot be parsed. */
void conninfo_add_masked(struct buffer *out, struct str conninfo);

#endif
