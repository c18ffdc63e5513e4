/*
 * digest — SHA-256, HMAC-SHA-256 and a constant-time comparison.
 */
#ifndef SLUICE_BASE_DIGEST_H
#define SLUICE_BASE_DIGEST_H

#include <stdbool.h>

#include "lib/base/str.h"

enum { SHA256_BYTES = 32, SHA256_TEXT = 43 };

/** SHA-256 of `text`. */
void sha256(struct str text, unsigned char out[SHA256_BYTES]);

/** SHA-256 of `text` as base64url: 43 characters, NUL-terminated. */
void sha256_text(struct str text, char out[SHA256_TEXT + 1]);

/** HMAC-SHA-256 (RFC 2104). */
void hmac_sha256(struct str key, struct str text, unsigned char out[SHA256_BYTES]);

/** True when both hold the same bytes; the time taken depends on the lengths only. */
bool constant_time_equal(struct str a, struct str b);

#endif
