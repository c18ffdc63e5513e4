/*
 * jwt — compact JWS (RFC 7515): parsing within fixed bounds, signing and verifying.
 * A key has exactly one algorithm, which the header must name: neither "none" nor a key used as
 * another type is accepted. Header references are not followed (jku, x5u, jwk); any "crit" is
 * refused.
 */
#ifndef SLUICE_IDENTITY_JWT_H
#define SLUICE_IDENTITY_JWT_H

#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "lib/base/buffer.h"
#include "lib/base/str.h"
#include "lib/identity/mac_key.h"

enum {
    JWT_MAX = 8 * 1024,       /* longest token */
    JWT_SIGNATURE_MAX = 1024, /* bytes: RSA of 8192 bits */
    JWT_KID_MAX = 128,
    JWT_TYPE_MAX = 64,
    JWT_DEPTH_MAX = 8 /* nesting of JSON */
};

enum jwt_algorithm { JWT_HS256, JWT_RS256, JWT_ES256, JWT_EDDSA };

struct jwt {
    /* Borrowed from the token: header.payload as sent; payload and signature in base64url. */
    struct str signed_text;
    struct str payload_text;
    struct str signature_text;
    unsigned char signature[JWT_SIGNATURE_MAX];
    size_t signature_length;
    char algorithm[16];
    bool has_type;
    char type[JWT_TYPE_MAX + 1];
    bool has_kid;
    char kid[JWT_KID_MAX + 1]; /* printable ASCII */
};

/** The name used in headers: "HS256", "RS256", "ES256" or "EdDSA". */
const char *jwt_algorithm_name(enum jwt_algorithm algorithm);

/** Parses such a name, case-sensitively as the standard requires. */
bool jwt_algorithm_parse(struct str name, enum jwt_algorithm *algorithm);

/** Splits `token` (borrowed) and parses its header. The payload is not parsed: see jwt_claims().
 *  Returns false for anything but a compact JWS with a readable header without "crit". */
bool jwt_parse(struct str token, struct jwt *jwt);

/** True when the header names HS256 and the signature was made by `key`. */
bool jwt_verify_hs256(const struct jwt *jwt, struct mac_key *key);

/** Parses the claims; call it only for a token whose signature was verified. Returns NULL if
 *  they are not one JSON object; release the result with json_object_put(). Of duplicate names the
 *  last wins (RFC 7519). */
json_object *jwt_claims(const struct jwt *jwt);

/** Appends a token signed with HS256. `header` and `claims` are JSON objects as text. */
void jwt_sign_hs256(struct buffer *out, struct str header, struct str claims, struct mac_key *key);

/** Parses `text` as one JSON object: strict, UTF-8, nested at most `depth` deep, followed by white
 *  space only. Returns NULL for anything else; release the result with json_object_put(). */
json_object *jwt_json_object(struct str text, int depth);

#endif
