/*
 * key_set — a ring of secrets that sign and verify Sluice's own tokens.
 * The file has one line `kid:base64url-secret` per key (secrets of 32 to 512 bytes; empty lines and
 * '#' comments allowed); the first key signs, all verify. The file is reloaded when it changes;
 * while the new content is invalid, the old keys stay in force and the log says why. To rotate
 * without invalidating tokens: append the new key, later move it to the front, later remove the
 * old.
 */
#ifndef SLUICE_IDENTITY_KEY_SET_H
#define SLUICE_IDENTITY_KEY_SET_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/secret.h"
#include "lib/base/str.h"
#include "lib/identity/mac_key.h"

enum { KEY_SET_MAX = 16, KID_MAX = 32 };

struct key_set;

struct ring_key {
    char kid[KID_MAX + 1]; /* 1..32 of [A-Za-z0-9_-] */
    struct mac_key *mac;
};

/** Reads the ring at `path`. Returns NULL, with one sentence in `error`, if it is unusable.
 *  Free it with key_set_free(). */
struct key_set *key_set_open(const char *path, char error[SECRET_ERROR]);

/** NULL is allowed. */
void key_set_free(struct key_set *keys);

/** The signing key, valid until the next call for this ring. */
const struct ring_key *key_set_signer(struct key_set *keys);

/** The key named `kid`, valid until the next call for this ring; NULL if there is none. */
const struct ring_key *key_set_find(struct key_set *keys, struct str kid);

/** Reloads the file if it has changed, checking at most once a second of `now_monotonic_ms`. The
 *  two functions above call it. */
void key_set_refresh(struct key_set *keys, int64_t now_monotonic_ms);

#endif
