#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/encoding.h"
#include "lib/identity/jwt.h"
#include "lib/identity/public_key.h"
#include "tests/unit/token_maker.h"

/* RFC 7515, appendix A.1 to A.3: the same payload, three algorithms. */
#define RFC_PAYLOAD                                                                                \
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVl" \
    "fQ"
#define RFC_SECRET                                                                                 \
    "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"
#define RFC_N                                                                                      \
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4" \
    "d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5re" \
    "xMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxX" \
    "FvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
#define RFC_RS256                                                                                  \
    "eyJhbGciOiJSUzI1NiJ9." RFC_PAYLOAD                                                            \
    ".cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_"       \
    "O8W2Fp5"                                                                                      \
    "jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb" \
    "1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QO" \
    "YEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
#define RFC_ES256                                                                                  \
    "eyJhbGciOiJFUzI1NiJ9." RFC_PAYLOAD                                                            \
    ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
/* RFC 8037, appendix A.4. */
#define RFC_EDDSA                                                                                  \
    "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc."                                    \
    "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"

static const struct published {
    enum jwt_algorithm algorithm;
    const char *first;
    const char *second;
    const char *token;
} PUBLISHED[] = {
    {JWT_RS256, RFC_N, "AQAB", RFC_RS256},
    {JWT_ES256, "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
     "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0", RFC_ES256},
    {JWT_EDDSA, "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "", RFC_EDDSA},
};

TEST(the_hs256_example_of_rfc_7515_is_verified)
{
    unsigned char secret[64];
    size_t length;
    struct jwt jwt;

    assert_true(base64url_decode(STR(RFC_SECRET), secret, sizeof(secret), &length));
    struct mac_key *key = mac_key_new(str_sized((const char *)secret, length));
    assert_true(jwt_parse(STR("eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9." RFC_PAYLOAD
                              ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
                          &jwt));
    assert_string_equal(jwt.type, "JWT");
    assert_false(jwt.has_kid);
    assert_true(jwt_verify_hs256(&jwt, key));
    json_object *claims = jwt_claims(&jwt);
    json_object *issuer;
    assert_true(json_object_object_get_ex(claims, "iss", &issuer));
    assert_string_equal(json_object_get_string(issuer), "joe");
    json_object_put(claims);
    mac_key_free(key);
}

TEST(the_public_key_examples_of_rfc_7515_and_8037_are_verified)
{
    for (size_t i = 0; i < COUNT(PUBLISHED); i++) {
        const struct published *it = &PUBLISHED[i];
        const char *why;
        struct jwt jwt;
        struct public_key *key =
            public_key_new(it->algorithm, str_of(it->first), str_of(it->second), &why);
        assert_non_null(key);
        assert_true(jwt_parse(str_of(it->token), &jwt));
        if (!public_key_verify(key, &jwt)) {
            fail_msg("%s", jwt_algorithm_name(it->algorithm));
        }
        public_key_free(key);
    }
}

TEST(every_changed_character_of_a_token_makes_it_invalid)
{
    for (size_t i = 0; i < COUNT(PUBLISHED); i++) {
        const struct published *it = &PUBLISHED[i];
        const char *why;
        struct public_key *key =
            public_key_new(it->algorithm, str_of(it->first), str_of(it->second), &why);
        size_t length = strlen(it->token);
        for (size_t at = 0; at < length; at++) {
            char *token = strdup(it->token);
            struct jwt jwt;
            token[at] = token[at] == 'A' ? 'B' : 'A';
            if (jwt_parse(str_of(token), &jwt) && public_key_verify(key, &jwt)) {
                fail_msg("%s verified with character %zu changed", it->token, at);
            }
            free(token);
        }
        public_key_free(key);
    }
}

TEST(a_key_verifies_its_own_algorithm_only)
{
    const char *why;

    for (size_t k = 0; k < COUNT(PUBLISHED); k++) {
        struct public_key *key = public_key_new(PUBLISHED[k].algorithm, str_of(PUBLISHED[k].first),
                                                str_of(PUBLISHED[k].second), &why);
        for (size_t t = 0; t < COUNT(PUBLISHED); t++) {
            struct jwt jwt;
            assert_true(jwt_parse(str_of(PUBLISHED[t].token), &jwt));
            assert_int_equal(public_key_verify(key, &jwt), k == t);
        }
        public_key_free(key);
    }
}

TEST(signatures_of_a_wrong_length_or_of_zeros_are_refused)
{
    static const char *const LENGTHS[] = {"", "AA", "AAAA"};
    char zeros[JWT_SIGNATURE_MAX * 2] = "";
    const char *why;

    for (size_t k = 0; k < COUNT(PUBLISHED); k++) {
        struct public_key *key = public_key_new(PUBLISHED[k].algorithm, str_of(PUBLISHED[k].first),
                                                str_of(PUBLISHED[k].second), &why);
        const char *header =
            maker_text("{\"alg\":\"%s\"}", jwt_algorithm_name(PUBLISHED[k].algorithm));
        struct jwt jwt;
        for (size_t i = 0; i < COUNT(LENGTHS); i++) {
            const char *token = maker_token_with(header, "{}", LENGTHS[i]);
            assert_true(jwt_parse(str_of(token), &jwt));
            assert_false(public_key_verify(key, &jwt));
        }
        for (size_t n = 84; n <= 1024; n *= 2) {
            memset(zeros, 'A', n);
            zeros[n] = '\0';
            assert_true(jwt_parse(str_of(maker_token_with(header, "{}", zeros)), &jwt));
            assert_false(public_key_verify(key, &jwt));
        }
        memset(zeros, 'A', 86);
        zeros[86] = '\0';
        assert_true(jwt_parse(str_of(maker_token_with(header, "{}", zeros)), &jwt));
        assert_int_equal(jwt.signature_length, 64);
        assert_false(public_key_verify(key, &jwt));
        public_key_free(key);
    }
}

TEST(what_is_no_compact_jws_is_not_parsed)
{
    static const char *const REFUSED[] = {
        "",
        ".",
        "..",
        "...",
        "a",
        "a.b",
        "e30.e30",
        "e30.e30.AAAA.AAAA",
        ".e30.AAAA",
        "e30.e30.AAAA",                   /* no alg */
        "eyJhbGciOiJIUzI1NiJ9.e30.A",     /* signature of six bits */
        "eyJhbGciOiJIUzI1NiJ9.e30.AB",    /* stray bits */
        "eyJhbGciOiJIUzI1NiJ9.e30.AAA=",  /* padding */
        "eyJhbGciOiJIUzI1NiJ9.e30.AA+A",  /* the other base64 */
        "eyJhbGciOiJIUzI1NiJ9.e30.AAAA ", /* garbage behind */
        "eyJhbGciOiJIUzI1NiJ9.e30.AAAA\n",
        " eyJhbGciOiJIUzI1NiJ9.e30.AAAA",
        "eyJhbGciOiJIUzI1NiJ9=.e30.AAAA",
        "eyJhbGciOiJIUzI1NiJ8.e30.AAAA", /* header is no JSON */
    };
    static const char *const BAD_HEADERS[] = {
        "",
        "null",
        "[]",
        "\"HS256\"",
        "{",
        "{\"alg\":\"HS256\"",
        "{\"alg\":\"HS256\"}x",
        "{\"alg\":\"HS256\"}{}",
        "{'alg':'HS256'}",
        "{\"alg\":\"HS256\",}",
        "{\"alg\":null}",
        "{\"alg\":1}",
        "{\"alg\":[\"HS256\"]}",
        "{\"alg\":\"\"}",
        "{\"alg\":\"HS256HS256HS256HS256\"}",
        "{\"Alg\":\"HS256\"}",
        "{\"alg\":\"HS256\\u0000\"}",
        "{\"alg\":\"HS256\",\"typ\":1}",
        "{\"alg\":\"HS256\",\"kid\":1}",
        "{\"alg\":\"HS256\",\"kid\":{}}",
        "{\"alg\":\"HS256\",\"kid\":\"\"}",
        "{\"alg\":\"HS256\",\"kid\":\"a\\nb\"}",
        "{\"alg\":\"HS256\",\"kid\":\"\xc3\xa4\"}",
        "{\"alg\":\"HS256\",\"crit\":[\"b64\"],\"b64\":false}",
        "{\"alg\":\"HS256\",\"crit\":[]}",
        "{\"alg\":\"HS256\",\"crit\":null}",
        "{\"alg\":\"HS256\",\"x\":\"\xff\"}",
        "{\"alg\":\"HS256\" /* c */}",
        "{\"alg\":\"HS256\",\"x\":[[[[[[[[[[1]]]]]]]]]]}",
        "{\"alg\":\"HS256\",\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{\"x\":{}}}}}}}}}",
    };
    struct jwt jwt;

    for (size_t i = 0; i < COUNT(REFUSED); i++) {
        if (jwt_parse(str_of(REFUSED[i]), &jwt)) {
            fail_msg("'%s' was parsed", REFUSED[i]);
        }
    }
    for (size_t i = 0; i < COUNT(BAD_HEADERS); i++) {
        if (jwt_parse(str_of(maker_token_with(BAD_HEADERS[i], "{}", "AAAA")), &jwt)) {
            fail_msg("header %s was parsed", BAD_HEADERS[i]);
        }
    }
}

TEST(every_token_that_is_cut_off_is_refused)
{
    const struct str secret = STR("0123456789abcdef0123456789abcdef");
    struct mac_key *key = mac_key_new(secret);
    const char *token = maker_token_hs256(secret, "{\"alg\":\"HS256\"}", "{\"sub\":\"x\"}");
    struct jwt jwt;

    for (size_t n = 0; n < strlen(token); n++) {
        char *cut = strndup(token, n); /* of its own, so that a read too far is found */
        assert_false(jwt_parse(str_sized(cut, n), &jwt) && jwt_verify_hs256(&jwt, key));
        free(cut);
    }
    assert_true(jwt_parse(str_of(token), &jwt) && jwt_verify_hs256(&jwt, key));
    mac_key_free(key);
}

TEST(a_token_of_8_kib_is_parsed_and_a_longer_one_is_not)
{
    const char *header = "eyJhbGciOiJIUzI1NiJ9";
    char *token = malloc(JWT_MAX + 2);
    struct jwt jwt;

    assert_non_null(token);
    memset(token, 'A', JWT_MAX + 1);
    token[JWT_MAX + 1] = '\0';
    memcpy(token, header, strlen(header));
    token[strlen(header)] = '.';
    token[JWT_MAX - 5] = '.';
    assert_true(jwt_parse(str_sized(token, JWT_MAX), &jwt));
    assert_null(jwt_claims(&jwt));
    token[JWT_MAX - 5] = 'A';
    token[JWT_MAX - 4] = '.';
    assert_false(jwt_parse(str_sized(token, JWT_MAX + 1), &jwt));
    free(token);
}

TEST(claims_are_one_json_object_of_bounded_depth)
{
    static const struct {
        const char *claims;
        bool good;
    } CASES[] = {
        {"{}", true},
        {" {\"a\":[1,{\"b\":null}]} \r\n", true},
        {"{\"a\":1,\"a\":2}", true},
        {"{}{}", false},
        {"{} x", false},
        {"[]", false},
        {"1", false},
        {"", false},
        {"{\"a\":\"\xff\"}", false},
        {"{\"a\":[[[[[[[[[[[[[[[[[[[[", false},
        {"{\"a\":[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]}", false},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct jwt jwt;
        assert_true(jwt_parse(
            str_of(maker_token_with("{\"alg\":\"HS256\"}", CASES[i].claims, "AAAA")), &jwt));
        json_object *claims = jwt_claims(&jwt);
        if ((claims != NULL) != CASES[i].good) {
            fail_msg("'%s'", CASES[i].claims);
        }
        json_object_put(claims);
    }
}

TEST(what_is_signed_here_is_what_the_standard_says)
{
    const struct str secret = STR("0123456789abcdef0123456789abcdef");
    struct mac_key *key = mac_key_new(secret);
    struct buffer out;

    buffer_init(&out, JWT_MAX);
    buffer_add(&out, STR("Bearer "));
    jwt_sign_hs256(&out, STR("{\"alg\":\"HS256\"}"), STR("{\"sub\":\"x\"}"), key);
    assert_true(buffer_ok(&out));
    assert_text(str_sized(out.bytes + 7, out.length - 7),
                maker_token_hs256(secret, "{\"alg\":\"HS256\"}", "{\"sub\":\"x\"}"));
    buffer_clear(&out);
    jwt_sign_hs256(&out, STR("{}"), str_sized(RFC_N, sizeof(RFC_N)), key);
    assert_true(buffer_ok(&out));
    char *large = calloc(1, JWT_MAX);
    jwt_sign_hs256(&out, STR("{}"), str_sized(large, JWT_MAX), key);
    assert_false(buffer_ok(&out));
    free(large);
    buffer_free(&out);
    mac_key_free(key);
}

TEST(a_prepared_key_gives_the_same_mac_again_and_again)
{
    struct mac_key *key = mac_key_new(STR("Jefe"));

    for (int i = 0; i < 3; i++) {
        unsigned char prepared[SHA256_BYTES];
        unsigned char plain[SHA256_BYTES];
        mac_key_sign(key, STR("what do ya want for nothing?"), prepared);
        hmac_sha256(STR("Jefe"), STR("what do ya want for nothing?"), plain);
        assert_memory_equal(prepared, plain, SHA256_BYTES);
        mac_key_sign(key, str_of(NULL), prepared);
        hmac_sha256(STR("Jefe"), str_of(NULL), plain);
        assert_memory_equal(prepared, plain, SHA256_BYTES);
    }
    assert_false(mac_key_verify(key, STR("x"), STR("")));
    mac_key_free(key);
    mac_key_free(NULL);
}

TEST(weak_and_broken_public_keys_are_refused)
{
    static const char N2048_EVEN[] = RFC_N;
    char even[sizeof(N2048_EVEN)];
    const char *why;
    struct maker_key *weak = maker_key_new(JWT_RS256, 1024);
    const char *jwk = maker_jwk(weak); /* "kty":"RSA","n":"…","e":"AQAB" */
    const char *n = strstr(jwk, "\"n\":\"") + 5;

    assert_null(public_key_new(JWT_RS256, str_sized(n, strcspn(n, "\"")), STR("AQAB"), &why));
    assert_string_equal(why, "an RSA key must have 2048 to 8192 bits");
    maker_key_free(weak);

    memcpy(even, N2048_EVEN, sizeof(even));
    even[sizeof(even) - 2] = 'A'; /* the last bits of the modulus: now even */
    assert_null(public_key_new(JWT_RS256, str_of(even), STR("AQAB"), &why));
    assert_null(public_key_new(JWT_RS256, STR(RFC_N), STR("AQ"), &why));   /* e = 1 */
    assert_null(public_key_new(JWT_RS256, STR(RFC_N), STR("AQAA"), &why)); /* e even */
    assert_null(public_key_new(JWT_RS256, STR(RFC_N), STR(""), &why));
    assert_null(public_key_new(JWT_RS256, STR(""), STR("AQAB"), &why));
    assert_null(public_key_new(JWT_RS256, STR("!"), STR("AQAB"), &why));

    assert_null(public_key_new(JWT_ES256, STR("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"),
                               STR("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a4"), &why));
    assert_string_equal(why, "x and y are no point of P-256"); /* beside the curve */
    assert_null(public_key_new(JWT_ES256, STR("AAAA"), STR("AAAA"), &why));
    assert_null(public_key_new(JWT_EDDSA, STR("AAAA"), STR(""), &why));
    assert_null(public_key_new(JWT_HS256, STR("AAAA"), STR(""), &why));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hs256_example_of_rfc_7515_is_verified),
        cmocka_unit_test(the_public_key_examples_of_rfc_7515_and_8037_are_verified),
        cmocka_unit_test(every_changed_character_of_a_token_makes_it_invalid),
        cmocka_unit_test(a_key_verifies_its_own_algorithm_only),
        cmocka_unit_test(signatures_of_a_wrong_length_or_of_zeros_are_refused),
        cmocka_unit_test(what_is_no_compact_jws_is_not_parsed),
        cmocka_unit_test(every_token_that_is_cut_off_is_refused),
        cmocka_unit_test(a_token_of_8_kib_is_parsed_and_a_longer_one_is_not),
        cmocka_unit_test(claims_are_one_json_object_of_bounded_depth),
        cmocka_unit_test(what_is_signed_here_is_what_the_standard_says),
        cmocka_unit_test(a_prepared_key_gives_the_same_mac_again_and_again),
        cmocka_unit_test(weak_and_broken_public_keys_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
