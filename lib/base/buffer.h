/*
 * buffer — text that grows up to a given maximum, and the project's only JSON escaper.
 * Errors are sticky: append without checking, then check once with buffer_ok().
 */
#ifndef SLUICE_BASE_BUFFER_H
#define SLUICE_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/str.h"

struct buffer {
    char *bytes;
    size_t length;
    size_t capacity;
    size_t maximum;
    bool overflowed; /* something did not fit: the content must not be used */
};

/** Initializes an empty buffer that will hold at most `maximum` bytes. */
void buffer_init(struct buffer *buffer, size_t maximum);

/** Empties it (and clears the error), keeping its memory. */
void buffer_clear(struct buffer *buffer);

/** Releases the memory; the buffer may be initialized again. */
void buffer_free(struct buffer *buffer);

/** Append text, one character, a decimal number, or printf-style text. */
void buffer_add(struct buffer *buffer, struct str text);
void buffer_add_char(struct buffer *buffer, char c);
void buffer_add_int(struct buffer *buffer, int64_t value);
void buffer_format(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Appends `text` as a JSON string, quotes included. Control characters are escaped; bytes that
 *  are not valid UTF-8 become U+FFFD. */
void buffer_add_json_string(struct buffer *buffer, struct str text);

/** Appends a time in wire format as a JSON string, and null for one before 1970 or after the year
 *  9999. */
void buffer_add_json_time(struct buffer *buffer, int64_t ms);

/** False once an append did not fit. */
bool buffer_ok(const struct buffer *buffer);

/** The content, borrowed until the next change. */
struct str buffer_text(const struct buffer *buffer);

#endif
