/*
 * token_maker — tokens and keys as other people's programs make them, good and hostile. The texts
 * that the functions return live until the process ends.
 */
#ifndef SLUICE_TESTS_TOKEN_MAKER_H
#define SLUICE_TESTS_TOKEN_MAKER_H

#include <stddef.h>

#include "lib/base/str.h"
#include "lib/identity/jwt.h"

struct maker_key;

/** A copy of the formatted text. */
const char *maker_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** base64url of a text. */
const char *maker_base64url(const char *text);

/** A new private key; `bits` counts for RS256 only. */
struct maker_key *maker_key_new(enum jwt_algorithm algorithm, unsigned int bits);

void maker_key_free(struct maker_key *key);

/** The public half as members of a JWK, e.g. "kty":"OKP","crv":"Ed25519","x":"…" (no braces). */
const char *maker_jwk(const struct maker_key *key);

/** The public half as PEM, what an attacker would take for an HMAC secret. */
const char *maker_pem(const struct maker_key *key);

/** header.claims.signature, signed by the private key, whatever the header says. */
const char *maker_token(const struct maker_key *key, const char *header, const char *claims);

/** The same by HMAC-SHA-256. */
const char *maker_token_hs256(struct str secret, const char *header, const char *claims);

/** header.claims.signature with the signature's text as given. */
const char *maker_token_with(const char *header, const char *claims, const char *signature);

#endif
