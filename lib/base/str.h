/*
 * str — a borrowed piece of text: pointer and length, not owned, not NUL-terminated.
 * All text from outside is passed in this form, so that its length is never lost.
 */
#ifndef SLUICE_BASE_STR_H
#define SLUICE_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { STR_INT64_TEXT = 20 }; /* "-9223372036854775808" */

struct str {
    const char *p; /* NULL only when n is 0 */
    size_t n;
};

/** A str of a string literal. */
#define STR(literal) ((struct str){.p = "" literal, .n = sizeof(literal) - 1})

/** printf arguments for "%.*s". */
#define STR_ARG(s) (int)(s).n, (s).p

/** The `n` bytes at `p`, borrowed. */
static inline struct str str_sized(const char *p, size_t n)
{
    return (struct str){.p = p, .n = n};
}

/** The text of `c_string` (NULL gives the empty str), borrowed. */
static inline struct str str_of(const char *c_string)
{
    return str_sized(c_string, c_string == NULL ? 0 : strlen(c_string));
}

/** True when both hold the same bytes. Not constant-time: for secrets use constant_time_equal(). */
bool str_equal(struct str a, struct str b);

/** True when `s` begins with `prefix`. */
bool str_starts(struct str s, struct str prefix);

/** Splits `s` at the first `delimiter`: `head` gets what precedes it and `rest` what follows.
 *  Returns false, with head = s and rest empty, if there is none. */
bool str_split(struct str s, char delimiter, struct str *head, struct str *rest);

/** `s` without leading and trailing spaces and tabs. */
struct str str_trim(struct str s);

/** Copies `s`, truncated if needed, into `to`, which has `room` (≥ 1) bytes, and appends a
 *  NUL. */
void str_copy(struct str s, char *to, size_t room);

/** Parses a decimal integer: optional '-', no spaces, no leading '+'.
 *  Returns false, `out` untouched, if `s` is anything else or outside [min, max]. */
bool str_to_int64(struct str s, int64_t min, int64_t max, int64_t *out);

/** Writes `value` in decimal, NUL-terminated. Returns the length without the NUL. */
size_t str_from_int64(int64_t value, char out[STR_INT64_TEXT + 1]);

#endif
