/*
 * percent — percent-decoding (RFC 3986), strict.
 */
#ifndef SLUICE_HTTP_PERCENT_H
#define SLUICE_HTTP_PERCENT_H

#include <stdbool.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"

/** Decodes `text` into `*out`, which lives in `arena`. `keep_slash` leaves "%2F" encoded, so that a
 *  path is never split at a slash that the client did not write. Returns false for a '%' without
 *  two hex digits and for an encoded NUL. */
bool percent_decode(struct arena *arena, struct str text, bool keep_slash, struct str *out);

#endif
