/*
 * member_jwt — authenticates a member by the JWT of the shop's own login (RFC 7519, RFC 8725).
 * The settings pin the algorithm. `exp` is required, `nbf` honoured, `aud` checked if
 * configured, `sub` is the member id. A queue ticket is never accepted: its typ differs.
 */
#ifndef SLUICE_IDENTITY_MEMBER_JWT_H
#define SLUICE_IDENTITY_MEMBER_JWT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buffer.h"
#include "lib/base/identifier.h"
#include "lib/base/secret.h"
#include "lib/base/str.h"
#include "lib/settings/settings.h"

struct member_verifier;

struct member {
    char id[MEMBER_MAX + 1];
};

enum member_outcome {
    MEMBER_VALID,
    MEMBER_MALFORMED,
    MEMBER_WRONG_TYPE,
    MEMBER_WRONG_ALGORITHM,
    MEMBER_UNKNOWN_KEY,
    MEMBER_BAD_SIGNATURE,
    MEMBER_NO_EXPIRY,
    MEMBER_EXPIRED,
    MEMBER_NOT_YET_VALID,
    MEMBER_BAD_SUBJECT,
    MEMBER_WRONG_AUDIENCE
};

/** Loads the keys and rules of `settings` (member_jwt_*, member_jwks_file), which is not kept.
 *  Key files are reloaded when they change. Returns NULL, with one sentence in `error`, if a key
 *  file is missing or unusable. Free it with member_verifier_free(). */
struct member_verifier *member_verifier_new(const struct settings *settings,
                                            char error[SECRET_ERROR]);

/** NULL is allowed. */
void member_verifier_free(struct member_verifier *verifier);

/** Verifies `token` (the text after "Bearer "). `now_ms` is wall time, ms since 1970. `member` is
 *  filled only for MEMBER_VALID. */
enum member_outcome member_jwt_verify(struct member_verifier *verifier, struct str token,
                                      int64_t now_ms, struct member *member);

/** A description for people, for logs and for a problem's detail, e.g. "the token has expired". */
const char *member_outcome_reason(enum member_outcome outcome);

/** Appends a member JWT for `id`, valid for `ttl_seconds` (≥ 1) from `now_ms` on; for demos and
 *  tests. Returns false if the algorithm is not HS256 or `id` is no member id. */
bool member_jwt_sign(struct member_verifier *verifier, struct str id, int64_t now_ms,
                     int64_t ttl_seconds, struct buffer *out);

#endif
