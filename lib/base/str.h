/*
 * str — a borrowed piece of text: pointer and length, not owned, not NUL-terminated.
 * All text that comes from outside travels in this form, so that no length is ever forgotten.
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

/** The text of `c_string` (may be NULL: gives the empty str), borrowed. */
static inline struct str str_of(const char *c_string)
{
    return str_sized(c_string, c_string == NULL ? 0 : strlen(c_string));
}

/** True when both hold the same bytes. Not constant-time: for secrets use constant_time_equal(). */
bool str_equal(struct str a, struct str b);

/** True when `s` begins with `prefix`. */
bool str_starts(struct str s, struct str prefix);

/** Cuts `s` at the first `delimiter`: `head` gets what is before it and `rest` what is behind.
 *  Returns false, with head = s and rest empty, where there is none. */
bool str_split(struct str s, char delimiter, struct str *head, struct str *rest);

/** `s` without leading and trailing spaces and tabs. */
struct str str_trim(struct str s);

/** Copies `s` into `to`, which has room for `room` (≥ 1) bytes, and puts a NUL behind it; what
 *  does not fit is cut. */
void str_copy(struct str s, char *to, size_t room);

/** Reads a whole decimal number, optional '-', no spaces, no leading '+'.
 *  Returns false where `s` is anything else or outside [min, max]; `out` is then untouched. */
bool str_to_int64(struct str s, int64_t min, int64_t max, int64_t *out);

/** Writes `value` in decimal, and a NUL. Returns the length without it. */
size_t str_from_int64(int64_t value, char out[STR_INT64_TEXT + 1]);

#endif
