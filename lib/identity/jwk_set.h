/*
 * jwk_set — public keys of one algorithm from a JWK set file (RFC 7517).
 * Keys of other types and uses are skipped. The file is reloaded when it changes; while the new
 * content is invalid, the old keys stay in force and the log says why.
 */
#ifndef SLUICE_IDENTITY_JWK_SET_H
#define SLUICE_IDENTITY_JWK_SET_H

#include <stdint.h>

#include "lib/base/secret.h"
#include "lib/identity/public_key.h"

enum { JWK_SET_MAX = 32, JWK_SET_FILE_MAX = 64 * 1024 };

struct jwk_set;

/** Reads the keys for `algorithm` (not HS256) from `path`. Returns NULL, with one sentence in
 *  `error`, if there is none or one is invalid: too weak, a private key, a duplicate kid. Free
 *  it with jwk_set_free(). */
struct jwk_set *jwk_set_open(const char *path, enum jwt_algorithm algorithm,
                             char error[SECRET_ERROR]);

/** NULL is allowed. */
void jwk_set_free(struct jwk_set *set);

/** The key that the token's header names; the only key of the set if it names none. Else NULL.
 *  Valid until the next call for this set. */
const struct public_key *jwk_set_find(struct jwk_set *set, const struct jwt *jwt);

/** Reloads the file if it has changed, checking at most once a second of `now_monotonic_ms`.
 *  jwk_set_find() calls it. */
void jwk_set_refresh(struct jwk_set *set, int64_t now_monotonic_ms);

#endif
