#include "tests/unit/member_fixture.h"

#include "tests/unit/unit.h"

#include "tests/unit/scratch.h"

static struct settings settings = {
    .member_jwt_algorithm = "HS256",
    .member_jwt_key_file = "",
    .member_jwks_file = "",
    .member_jwt_audience = "",
    .member_jwt_leeway_seconds = 30,
};

struct settings *member_settings(void)
{
    return &settings;
}

struct member_verifier *member_by_secret(const char *audience)
{
    char error[SECRET_ERROR];

    settings.member_jwt_algorithm = "HS256";
    settings.member_jwt_key_file = scratch_write("member.key", MEMBER_SECRET "\n", 0600);
    settings.member_jwt_audience = audience;
    struct member_verifier *verifier = member_verifier_new(&settings, error);
    assert_non_null(verifier);
    return verifier;
}

struct member_verifier *member_by_public_key(enum jwt_algorithm algorithm,
                                             const struct maker_key *key)
{
    char error[SECRET_ERROR];
    const char *set = maker_text("{\"keys\":[{%s,\"kid\":\"k\"}]}", maker_jwk(key));

    settings.member_jwt_algorithm = jwt_algorithm_name(algorithm);
    settings.member_jwks_file = scratch_write("jwks.json", set, 0644);
    settings.member_jwt_audience = "";
    struct member_verifier *verifier = member_verifier_new(&settings, error);
    assert_non_null(verifier);
    return verifier;
}

void member_expect(struct member_verifier *verifier, const char *token, enum member_outcome wanted,
                   const char *what)
{
    struct member member = {.id = "untouched"};
    enum member_outcome outcome =
        member_jwt_verify(verifier, str_of(token), MEMBER_NOW_MS, &member);

    if (outcome != wanted) {
        fail_msg("%s: '%s' instead of '%s'", what, member_outcome_reason(outcome),
                 member_outcome_reason(wanted));
    }
    if (outcome != MEMBER_VALID) {
        assert_string_equal(member.id, "untouched");
    }
}

const char *member_signed(const char *header, const char *claims)
{
    return maker_token_hs256(STR(MEMBER_SECRET), header, claims);
}
