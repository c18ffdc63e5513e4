/*
 * public_key — a public key of one JWS algorithm: RS256 (2048..8192 bits), ES256 (P-256) or EdDSA
 * (Ed25519).
 */
#ifndef SLUICE_IDENTITY_PUBLIC_KEY_H
#define SLUICE_IDENTITY_PUBLIC_KEY_H

#include <stdbool.h>

#include "lib/base/str.h"
#include "lib/identity/jwt.h"

struct public_key;

/** Creates a key from the base64url members of a JWK (RFC 7518, RFC 8037): RS256 n in `first`, e in
 *  `second`; ES256 x and y; EdDSA x and an empty str. Returns NULL, with a phrase in `*why`, if
 *  they are no such key. */
struct public_key *public_key_new(enum jwt_algorithm algorithm, struct str first, struct str second,
                                  const char **why);

/** NULL is allowed. */
void public_key_free(struct public_key *key);

/** True when the header names the key's algorithm and the signature is valid. */
bool public_key_verify(const struct public_key *key, const struct jwt *jwt);

#endif
