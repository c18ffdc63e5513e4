/*
 * payment_json — reads members of a provider's response, each with its type and bounds; everything
 * else in the response is ignored. Text goes to the arena.
 */
#ifndef SLUICE_PAYMENTS_PAYMENT_JSON_H
#define SLUICE_PAYMENTS_PAYMENT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/str.h"

/** Parses a provider's response, a JSON object; NULL for anything else. Lives as long as the
 *  arena. */
json_object *payment_json_parse(struct arena *arena, struct str text);

/** The object `name` within `object`; NULL if there is none. */
json_object *payment_json_object(json_object *object, const char *name);

/** Reads a text of 1 to `most` printable ASCII characters without spaces. */
bool payment_json_word(struct arena *arena, json_object *object, const char *name, size_t most,
                       struct str *word);

/** Reads an amount: an integer in [0, 2^53 - 1]. */
bool payment_json_amount(json_object *object, const char *name, int64_t *amount);

/** Reads an integer in the range of int. */
bool payment_json_int(json_object *object, const char *name, int *number);

/** Reads an RFC 3339 time, Korean if it has no zone, as ms since 1970; -1 if it is missing,
 *  null or invalid. */
int64_t payment_json_time(json_object *object, const char *name);

/** True for 1 to `most` printable ASCII characters without spaces. */
bool payment_is_word(struct str text, size_t most);

/** Appends `"name":"text",` and `"name":number,`. */
void payment_json_add(struct buffer *out, const char *name, struct str text);
void payment_json_add_int(struct buffer *out, const char *name, int64_t number);

/** Replaces the last comma by the end of the object. */
void payment_json_end(struct buffer *out);

#endif
