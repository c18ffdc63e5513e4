#include "lib/base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"

void buffer_init(struct buffer *buffer, size_t maximum)
{
    *buffer = (struct buffer){.maximum = maximum};
}

void buffer_clear(struct buffer *buffer)
{
    buffer->length = 0;
    buffer->overflowed = false;
}

void buffer_free(struct buffer *buffer)
{
    free(buffer->bytes);
    buffer_init(buffer, buffer->maximum);
}

/* Makes room for `more` bytes and a terminating NUL. */
static bool reserve(struct buffer *buffer, size_t more)
{
    if (buffer->overflowed || more > buffer->maximum - buffer->length) {
        buffer->overflowed = true;
        return false;
    }
    size_t wanted = buffer->length + more + 1;
    if (wanted > buffer->capacity) {
        size_t capacity = buffer->capacity == 0 ? 256 : buffer->capacity;
        while (capacity < wanted) {
            capacity *= 2;
        }
        char *bytes = realloc(buffer->bytes, capacity);
        if (bytes == NULL) {
            abort();
        }
        buffer->bytes = bytes;
        buffer->capacity = capacity;
    }
    return true;
}

void buffer_add(struct buffer *buffer, struct str text)
{
    if (text.n > 0 && reserve(buffer, text.n)) {
        memcpy(buffer->bytes + buffer->length, text.p, text.n);
        buffer->length += text.n;
    }
}

void buffer_add_char(struct buffer *buffer, char c)
{
    buffer_add(buffer, str_sized(&c, 1));
}

void buffer_add_int(struct buffer *buffer, int64_t value)
{
    char digits[STR_INT64_TEXT + 1];

    buffer_add(buffer, str_sized(digits, str_from_int64(value, digits)));
}

void buffer_format(struct buffer *buffer, const char *format, ...)
{
    size_t room = buffer->capacity - buffer->length; /* in place first: twice would cost twice */
    va_list arguments;

    va_start(arguments, format);
    int length =
        vsnprintf(room == 0 ? NULL : buffer->bytes + buffer->length, room, format, arguments);
    va_end(arguments);
    if (length < 0 || !reserve(buffer, (size_t)length)) {
        buffer->overflowed = true;
        return;
    }
    if ((size_t)length < room) {
        buffer->length += (size_t)length;
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(buffer->bytes + buffer->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    buffer->length += (size_t)length;
}

/* Length of the valid UTF-8 sequence at `p`, or 0 if there is none (RFC 3629: no overlong forms, no
 * surrogates, nothing above U+10FFFF). */
static size_t utf8_length(const unsigned char *p, size_t n)
{
    if (p[0] < 0x80) {
        return 1;
    }
    size_t length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || n < length) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f)) {
        return 0;
    }
    return length;
}

/* How many bytes from `p` on need no escaping in a JSON string; they are copied in one piece. */
static size_t plain_length(const unsigned char *p, size_t n)
{
    size_t i = 0;

    while (i < n && p[i] >= 0x20 && p[i] < 0x7f && p[i] != '"' && p[i] != '\\') {
        i++;
    }
    return i;
}

void buffer_add_json_string(struct buffer *buffer, struct str text)
{
    const unsigned char *p = (const unsigned char *)text.p;

    buffer_add_char(buffer, '"');
    for (size_t i = 0; i < text.n;) {
        size_t plain = plain_length(p + i, text.n - i);
        if (plain > 0) {
            buffer_add(buffer, str_sized(text.p + i, plain));
            i += plain;
            continue;
        }
        size_t length = utf8_length(p + i, text.n - i);
        if (length == 0) {
            buffer_add(buffer, STR("\xef\xbf\xbd"));
            i++;
            continue;
        }
        if (p[i] == '"' || p[i] == '\\') {
            buffer_add_char(buffer, '\\');
            buffer_add_char(buffer, text.p[i]);
        } else if (p[i] == '\n') {
            buffer_add(buffer, STR("\\n"));
        } else if (p[i] < 0x20 || p[i] == 0x7f) {
            buffer_format(buffer, "\\u%04x", p[i]);
        } else {
            buffer_add(buffer, str_sized(text.p + i, length));
        }
        i += length;
    }
    buffer_add_char(buffer, '"');
}

void buffer_add_json_time(struct buffer *buffer, int64_t ms)
{
    char text[RFC3339_TEXT + 1];

    if (ms < 0 || ms > RFC3339_LAST_MS) {
        buffer_add(buffer, STR("null"));
        return;
    }
    rfc3339_format(ms, text);
    buffer_add_json_string(buffer, str_sized(text, RFC3339_TEXT));
}

bool buffer_ok(const struct buffer *buffer)
{
    return !buffer->overflowed;
}

struct str buffer_text(const struct buffer *buffer)
{
    return str_sized(buffer->bytes, buffer->length);
}
