/*
 * mac_key — an HMAC-SHA-256 key, prepared once so that each use costs only the hashing.
 * Not to be shared between threads.
 */
#ifndef SLUICE_IDENTITY_MAC_KEY_H
#define SLUICE_IDENTITY_MAC_KEY_H

#include <stdbool.h>

#include "lib/base/digest.h"
#include "lib/base/str.h"

struct mac_key;

/** Prepares `secret` (at least 1 byte; not kept). Never NULL; free it with mac_key_free(). */
struct mac_key *mac_key_new(struct str secret);

/** NULL is allowed. */
void mac_key_free(struct mac_key *key);

/** HMAC-SHA-256 of `text`. */
void mac_key_sign(struct mac_key *key, struct str text, unsigned char out[SHA256_BYTES]);

/** True when `mac_text` is the MAC of `text` in base64url. The comparison is constant-time. */
bool mac_key_verify(struct mac_key *key, struct str text, struct str mac_text);

#endif
