/*
 * buffer — text that grows up to a stated maximum. Errors stick: append as often as needed, ask
 * once at the end with buffer_ok(). The one JSON escaper of the project is here.
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
    bool overflowed; /* something did not fit: what is there is not to be used */
};

/** An empty buffer that never holds more than `maximum` bytes. */
void buffer_init(struct buffer *buffer, size_t maximum);

/** Empties it and keeps the memory. */
void buffer_clear(struct buffer *buffer);

/** Gives the memory back; the buffer may be initialised again. */
void buffer_free(struct buffer *buffer);

void buffer_add(struct buffer *buffer, struct str text);
void buffer_add_char(struct buffer *buffer, char c);
void buffer_add_int(struct buffer *buffer, int64_t value);
void buffer_format(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Appends `text` as a JSON string, with its quotes. Control characters are escaped, bytes that
 *  are not UTF-8 become U+FFFD. */
void buffer_add_json_string(struct buffer *buffer, struct str text);

/** False once anything did not fit. */
bool buffer_ok(const struct buffer *buffer);

/** What was written, borrowed until the next change. */
struct str buffer_text(const struct buffer *buffer);

#endif
