/*
 * json_grammar — checks a text against the grammar of JSON (RFC 8259) and UTF-8 (RFC 3629). json-c,
 * which parses it afterwards, is more lenient even in its strict mode: single quotes, raw control
 * characters, NaN, overlong UTF-8.
 */
#ifndef SLUICE_HTTP_JSON_GRAMMAR_H
#define SLUICE_HTTP_JSON_GRAMMAR_H

#include <stdbool.h>

#include "lib/base/str.h"

/* Parsed JSON is many times as large as its text: an empty object of two bytes takes a thousand.
 * The largest request, a plan of 50,000 seats, has two objects and eight values a seat. */
enum { JSON_OBJECTS_MAX = 131072, JSON_VALUES_MAX = 1048576, JSON_NAMES_MAX = 256 };

/** True if `text` is one JSON value, nested at most `depth` deep, with nothing but white space
 *  around it, and within these limits of objects and arrays, of values in them, and of names in one
 *  object. Otherwise `*why` gets a sentence. */
bool json_grammar_holds(struct str text, int depth, const char **why);

#endif
