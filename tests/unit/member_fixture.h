/*
 * member_fixture — verifiers and tokens for the tests of member JWTs.
 */
#ifndef SLUICE_TESTS_MEMBER_FIXTURE_H
#define SLUICE_TESTS_MEMBER_FIXTURE_H

#include "lib/identity/jwt.h"
#include "lib/identity/member_jwt.h"
#include "tests/unit/token_maker.h"

#define MEMBER_SECRET "a secret of 32 characters or more"
#define MEMBER_HS256  "{\"alg\":\"HS256\",\"typ\":\"JWT\"}"
#define MEMBER_NOW_S  1800000000
#define MEMBER_NOW_MS (MEMBER_NOW_S * INT64_C(1000))
#define MEMBER_CLAIMS "{\"sub\":\"m-1\",\"exp\":1800000060}" /* good at MEMBER_NOW_MS */

/** Settings with a leeway of 30 s and nothing else set; borrowed. */
struct settings *member_settings(void);

/** A verifier for HS256 with MEMBER_SECRET; `audience` may be "". */
struct member_verifier *member_by_secret(const char *audience);

/** A verifier for `algorithm` with the one key given, its kid being "k". */
struct member_verifier *member_by_public_key(enum jwt_algorithm algorithm,
                                             const struct maker_key *key);

/** A token signed with MEMBER_SECRET, whatever the header says. */
const char *member_signed(const char *header, const char *claims);

/** Fails, naming `what`, unless `token` has the outcome `wanted` at MEMBER_NOW_MS and a member is
 *  filled in only where it is valid. */
void member_expect(struct member_verifier *verifier, const char *token, enum member_outcome wanted,
                   const char *what);

#endif
