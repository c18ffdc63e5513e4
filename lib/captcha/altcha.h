/*
 * altcha — proof of work that a browser does without the user: ALTCHA (version 2, SHA-256, cost 1).
 * The server picks a counter, derives a key from it and publishes the first half of the key; a
 * client that has tried all counters up to it knows the other half. The work is therefore bounded,
 * and issuing and verifying cost a few hashes each.
 *
 * A challenge is bound to one caller at one event by its signed `data`. Verification is stateless:
 * that each solution counts once is ensured by lib/admission/tokens/captcha_spend.h.
 */
#ifndef SLUICE_CAPTCHA_ALTCHA_H
#define SLUICE_CAPTCHA_ALTCHA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/digest.h"
#include "lib/base/str.h"
#include "lib/identity/key_set.h"

enum {
    ALTCHA_LIFE_S = 300,
    ALTCHA_COUNTER_MIN = 20000, /* a browser tries some 100,000 a second */
    ALTCHA_COUNTER_MAX = 60000,
    ALTCHA_HEX_KEY = 2 * SHA256_BYTES
};

/** Whom and what a challenge is for. */
struct altcha_subject {
    struct str event;  /* a slug */
    struct str caller; /* a member id or a visitor id */
};

enum altcha_outcome {
    ALTCHA_SOLVED,
    ALTCHA_MALFORMED, /* not a solution to a challenge of our form; the widget's test mode too */
    ALTCHA_FORGED,    /* not signed by a key of the ring, or modified since */
    ALTCHA_EXPIRED,
    ALTCHA_FOREIGN, /* for another event or another caller */
    ALTCHA_UNSOLVED /* the derived key is wrong */
};

/** Appends a new challenge as JSON, about 600 bytes. `now_ms` is wall time, ms since 1970; the
 *  challenge expires ALTCHA_LIFE_S later. */
void altcha_challenge(struct key_set *keys, struct arena *arena,
                      const struct altcha_subject *subject, int64_t now_ms, struct buffer *out);

/** Verifies the widget's payload. For ALTCHA_SOLVED, `nonce` gets the text that identifies the
 *  challenge, in the arena. */
enum altcha_outcome altcha_verify(struct key_set *keys, struct arena *arena,
                                  const struct altcha_subject *subject, struct str payload,
                                  int64_t now_ms, struct str *nonce);

/** One sentence that describes the outcome. */
const char *altcha_outcome_reason(enum altcha_outcome outcome);

/** Derives the key of a counter: SHA-256 of salt, nonce and counter (big-endian). */
void altcha_derive(const unsigned char *salt, size_t salt_bytes, const unsigned char *nonce,
                   size_t nonce_bytes, uint32_t counter, unsigned char key[SHA256_BYTES]);

/** HMAC-SHA-256 in hexadecimal, ALTCHA's form of a signature. */
void altcha_sign(struct str secret, struct str text, char out[ALTCHA_HEX_KEY + 1]);

#endif
