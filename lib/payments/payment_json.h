/*
 * payment_json — reads members of a provider's answer: each has a kind and a bound, and whatever
 * else stands in the answer is not looked at. Text goes to the arena.
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

/** Parses a provider's answer, an object; NULL for anything else. Lives as long as the arena. */
json_object *payment_json_parse(struct arena *arena, struct str text);

/** The object `name` within `object`, NULL where there is none. */
json_object *payment_json_object(json_object *object, const char *name);

/** A text of 1 to `most` printable ASCII characters without spaces. */
bool payment_json_word(struct arena *arena, json_object *object, const char *name, size_t most,
                       struct str *word);

/** A whole number in [0, 2^53 - 1]: an amount. */
bool payment_json_amount(json_object *object, const char *name, int64_t *amount);

/** A whole number that an int holds, maybe negative. */
bool payment_json_int(json_object *object, const char *name, int *number);

/** A time, RFC 3339; where it names no zone, it is Korea's. Milliseconds since 1970; -1 where it
 *  is missing or null or no time. */
int64_t payment_json_time(json_object *object, const char *name);

/** True for 1 to `most` printable ASCII characters without spaces. */
bool payment_is_word(struct str text, size_t most);

/** Appends `"name":"text",` and `"name":number,`. */
void payment_json_add(struct buffer *out, const char *name, struct str text);
void payment_json_add_int(struct buffer *out, const char *name, int64_t number);

/** Makes the last comma the end of the object. */
void payment_json_end(struct buffer *out);

#endif
