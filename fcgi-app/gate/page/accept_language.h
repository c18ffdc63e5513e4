/*
 * accept_language — picks one of a few languages by Accept-Language (RFC 9110, 12.5.4).
 */
#ifndef SLUICE_GATE_ACCEPT_LANGUAGE_H
#define SLUICE_GATE_ACCEPT_LANGUAGE_H

#include <stddef.h>

#include "lib/base/str.h"

/** Returns the one of `names` (lower case, e.g. "en", "pt-br") with the highest weight in the
 *  header: a range matches a name equal to it or to its first part ("ko-KR" matches "ko"). NULL
 *  if none matches. Malformed elements are skipped. */
const char *accept_language_best(struct str header, const char *const names[], size_t count);

#endif
