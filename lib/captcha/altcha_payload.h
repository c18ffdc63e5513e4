/*
 * altcha_payload — ALTCHA's JSON (version 2): the signed parameters of a challenge, and the payload
 * that the widget sends back. Only challenges of our own form are parsed: the signed text is
 * rebuilt from their known fields, so text from a client is never signed or compared as received.
 */
#ifndef SLUICE_CAPTCHA_ALTCHA_PAYLOAD_H
#define SLUICE_CAPTCHA_ALTCHA_PAYLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/digest.h"
#include "lib/base/str.h"

enum {
    ALTCHA_NONCE_BYTES = 16, /* the salt has as many */
    ALTCHA_PREFIX_BYTES = 16,
    ALTCHA_PAYLOAD_MAX = 2048,   /* characters in base64; ours have about 900 */
    ALTCHA_PARAMETERS_MAX = 1024 /* bytes of JSON */
};

/** The parameters of a challenge: SHA-256, cost 1, a 32-byte key. Text is borrowed; lowercase
 *  hexadecimal except for `data`. */
struct altcha_parameters {
    struct str data; /* a JSON object, members in alphabetical order, no spaces */
    int64_t expires_s;
    struct str key_prefix;    /* ALTCHA_PREFIX_BYTES */
    struct str key_signature; /* SHA256_BYTES */
    struct str nonce;         /* ALTCHA_NONCE_BYTES */
    struct str salt;          /* ALTCHA_NONCE_BYTES */
};

/** The content of `data` in our challenges. */
struct altcha_data {
    struct str event;   /* a slug */
    struct str kid;     /* the key that signed: 1..32 of [A-Za-z0-9_-] */
    struct str subject; /* SHA256_TEXT characters of base64url */
};

/** What the widget sends. */
struct altcha_payload {
    struct altcha_parameters parameters;
    struct altcha_data data;
    struct str signature;   /* SHA256_BYTES, hexadecimal */
    struct str derived_key; /* SHA256_BYTES, hexadecimal */
    uint32_t counter;
};

/** Serializes `data` as JSON, in the arena. */
struct str altcha_data_text(struct arena *arena, const struct altcha_data *data);

/** Appends the parameters in canonical form, the form that is signed. */
void altcha_parameters_write(struct buffer *out, const struct altcha_parameters *parameters);

/** Parses a payload: base64 of JSON. Returns false for anything but a solution to a challenge of
 *  our form; nothing is verified yet. Its text lives in the arena. */
bool altcha_payload_parse(struct arena *arena, struct str text, struct altcha_payload *payload);

#endif
