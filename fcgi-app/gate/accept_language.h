/*
 * accept_language — which of a few languages a person wants (RFC 9110, 12.5.4).
 */
#ifndef SLUICE_GATE_ACCEPT_LANGUAGE_H
#define SLUICE_GATE_ACCEPT_LANGUAGE_H

#include <stddef.h>

#include "lib/base/str.h"

/** The one of `names` (lower case, e.g. "en", "pt-br") that the header asks for with the highest
 *  weight: a range fits a name that it equals, or whose first part is the range's ("ko-KR" fits
 *  "ko"). NULL where none fits. What is malformed is passed over. */
const char *accept_language_best(struct str header, const char *const names[], size_t count);

#endif
