/*
 * encoding — base64url without padding (RFC 4648, section 5) and lowercase hexadecimal.
 */
#ifndef SLUICE_BASE_ENCODING_H
#define SLUICE_BASE_ENCODING_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/str.h"

/** Length in base64url of `bytes` bytes, without a NUL. */
#define BASE64URL_LENGTH(bytes) (((bytes)*4 + 2) / 3)

/** Writes BASE64URL_LENGTH(n) characters and a NUL to `out`. Returns the number of characters. */
size_t base64url_encode(const void *bytes, size_t n, char *out);

/** Decodes all of `text` into at most `capacity` bytes and sets `length` to their number.
 *  Returns false for padding, other characters, non-zero trailing bits in the last character, or
 *  too small a capacity. */
bool base64url_decode(struct str text, unsigned char *out, size_t capacity, size_t *length);

/** Writes 2·n characters and a NUL to `out`. */
void hex_encode(const void *bytes, size_t n, char *out);

/** Decodes `text` into exactly `n` bytes. Returns false for uppercase letters, other characters or
 *  another length. */
bool hex_decode(struct str text, unsigned char *out, size_t n);

#endif
