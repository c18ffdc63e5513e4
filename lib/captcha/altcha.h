/*
 * altcha — proof of work that browsers do by themselves, speaking ALTCHA (version 2, SHA-256, cost
 * 1). We choose a counter, derive a key from it and give away the key's first half: whoever has
 * tried the counters up to ours knows the rest. So the work is bounded, and giving out and judging
 * cost a few hashes.
 *
 * A challenge is for one caller at one event, by `data`, which is signed with it. That each counts
 * once is lib/admission/captcha_spend.h.
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

/** For whom a challenge is. */
struct altcha_subject {
    struct str event;  /* a slug */
    struct str caller; /* a member id or a visitor id */
};

enum altcha_outcome {
    ALTCHA_SOLVED,
    ALTCHA_MALFORMED, /* no answer to a challenge of our form; the widget's test mode too */
    ALTCHA_FORGED,    /* not signed by a key of the ring, or changed since */
    ALTCHA_EXPIRED,
    ALTCHA_FOREIGN, /* for another event or another caller */
    ALTCHA_UNSOLVED /* the key is not the right one */
};

/** Appends a new challenge as JSON, about 600 bytes. `now_ms` is wall time, ms since 1970. */
void altcha_challenge(struct key_set *keys, struct arena *arena,
                      const struct altcha_subject *subject, int64_t now_ms, struct buffer *out);

/** Judges what the widget has sent. Where it is solved, `nonce` gets the text that names the
 *  challenge, in the arena. */
enum altcha_outcome altcha_verify(struct key_set *keys, struct arena *arena,
                                  const struct altcha_subject *subject, struct str payload,
                                  int64_t now_ms, struct str *nonce);

/** One sentence about the outcome. */
const char *altcha_outcome_reason(enum altcha_outcome outcome);

/** The key that belongs to a counter: SHA-256 of salt, nonce and counter (big-endian). */
void altcha_derive(const unsigned char *salt, size_t salt_bytes, const unsigned char *nonce,
                   size_t nonce_bytes, uint32_t counter, unsigned char key[SHA256_BYTES]);

/** HMAC-SHA-256 as hexadecimal, ALTCHA's form of a signature. */
void altcha_sign(struct str secret, struct str text, char out[ALTCHA_HEX_KEY + 1]);

#endif
