/*
 * Member JWTs. First line: a header; the rest: claims. Signed by the shop's key they are judged by
 * their content, and whatever is not signed by it is never good.
 */
#include "lib/identity/member_jwt.h"

#include <string.h>

#include "lib/base/buffer.h"
#include "lib/identity/jwt.h"
#include "tests/fuzz/fuzz.h"

#define SECRET "a secret of 32 characters or more"
/* Of an Ed25519 key that nobody has. */
#define JWK_SET                                                                                    \
    "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":"                                       \
    "\"EsygrWCRTR-mS1Fw6ePpOBjpZVcsao4yKLgGBt3mDQw\"}]}"

static const int64_t NOW_S = 1800000000;
static const int64_t LEEWAY_S = 30;

static struct member_verifier *verifier_of(const char *algorithm, const char *audience)
{
    char error[SECRET_ERROR];
    bool secret = strcmp(algorithm, "HS256") == 0;
    const char *path = fuzz_file(secret ? STR(SECRET "\n") : STR(JWK_SET));
    const struct settings settings = {.member_jwt_algorithm = algorithm,
                                      .member_jwt_key_file = secret ? path : "",
                                      .member_jwks_file = secret ? "" : path,
                                      .member_jwt_audience = audience,
                                      .member_jwt_leeway_seconds = LEEWAY_S};

    struct member_verifier *verifier = member_verifier_new(&settings, error);
    REQUIRE(verifier != NULL);
    return verifier;
}

static bool is_text(json_object *claims, const char *name, const char *expected)
{
    json_object *value = json_object_object_get(claims, name);

    return json_object_is_type(value, json_type_string) &&
           strcmp(json_object_get_string(value), expected) == 0;
}

static bool names_audience(json_object *claims, const char *audience)
{
    json_object *value = json_object_object_get(claims, "aud");
    bool named = is_text(claims, "aud", audience);

    for (size_t i = 0;
         json_object_is_type(value, json_type_array) && i < json_object_array_length(value); i++) {
        json_object *one = json_object_array_get_idx(value, i);
        named |= json_object_is_type(one, json_type_string) &&
                 strcmp(json_object_get_string(one), audience) == 0;
    }
    return named;
}

/* What was accepted says all that it must. */
static void says_so(struct str claims_text, const struct member *member)
{
    json_object *claims = jwt_json_object(claims_text, JWT_DEPTH_MAX);
    REQUIRE(claims != NULL);
    json_object *expiry = json_object_object_get(claims, "exp");
    json_object *begin = json_object_object_get(claims, "nbf");

    REQUIRE(identifier_is_member(str_of(member->id)));
    REQUIRE(is_text(claims, "sub", member->id));
    REQUIRE(names_audience(claims, "shop"));
    REQUIRE(expiry != NULL && json_object_get_double(expiry) + (double)LEEWAY_S >= (double)NOW_S);
    REQUIRE(begin == NULL || json_object_get_double(begin) <= (double)(NOW_S + LEEWAY_S));
    (void)json_object_put(claims);
}

static enum member_outcome judge(struct member_verifier *verifier, struct str token,
                                 struct member *member)
{
    enum member_outcome outcome = member_jwt_verify(verifier, token, NOW_S * 1000, member);

    REQUIRE(member_outcome_reason(outcome) != NULL);
    return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct member_verifier *by_secret;
    static struct member_verifier *by_public_key;
    static struct mac_key *key;
    struct arena *arena = fuzz_arena();
    struct str claims = fuzz_text(data, size);
    struct member member;
    struct buffer token;

    if (key == NULL) {
        key = mac_key_new(STR(SECRET));
        by_secret = verifier_of("HS256", "shop");
        by_public_key = verifier_of("EdDSA", "");
    }
    REQUIRE(judge(by_secret, claims, &member) != MEMBER_VALID);
    REQUIRE(judge(by_public_key, claims, &member) != MEMBER_VALID);

    struct str header = fuzz_line(arena, &claims);
    buffer_init(&token, 2 * size + 1024);
    jwt_sign_hs256(&token, header, claims, key);
    REQUIRE(buffer_ok(&token));
    struct str text = buffer_text(&token);
    REQUIRE(judge(by_public_key, text, &member) != MEMBER_VALID);
    if (judge(by_secret, text, &member) == MEMBER_VALID) {
        says_so(claims, &member);
        REQUIRE(judge(by_secret, fuzz_changed(arena, text, size * 7), &member) != MEMBER_VALID);
    }
    buffer_free(&token);
    return 0;
}
