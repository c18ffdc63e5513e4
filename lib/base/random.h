/*
 * random — unpredictable values from OpenSSL's generator. A failing generator aborts the process:
 * no token may ever be predictable.
 */
#ifndef SLUICE_BASE_RANDOM_H
#define SLUICE_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

enum { RANDOM_TOKEN_TEXT = 43, RANDOM_ID_TEXT = 22 };

/** Fills `out` with `n` random bytes. */
void random_bytes(void *out, size_t n);

/** 32 random bytes as base64url: 43 characters, NUL-terminated. */
void random_token(char out[RANDOM_TOKEN_TEXT + 1]);

/** 16 random bytes as base64url: 22 characters, NUL-terminated. */
void random_id(char out[RANDOM_ID_TEXT + 1]);

/** A number in [0, below), for jitter, not for secrets. `below` ≥ 1. */
uint32_t random_below(uint32_t below);

#endif
