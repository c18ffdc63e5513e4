/*
 * json_grammar — holds a text to the grammar of JSON (RFC 8259) and to UTF-8 (RFC 3629). json-c, which reads it
 * afterwards, is more lenient even in its strict mode: single quotes, raw control characters, NaN, overlong
 * UTF-8.
 */
#ifndef SLUICE_HTTP_JSON_GRAMMAR_H
#define SLUICE_HTTP_JSON_GRAMMAR_H

#include <stdbool.h>

#include "lib/base/str.h"

/** True when `text` is one JSON value, nested at most `depth` deep, with nothing but white space around it.
 *  Otherwise `*why` gets a sentence. */
bool json_grammar_holds(struct str text, int depth, const char **why);

#endif
