#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/identity/jwk_set.h"
#include "tests/unit/capture.h"
#include "tests/unit/scratch.h"
#include "tests/unit/token_maker.h"

static const enum jwt_algorithm ALGORITHMS[] = {JWT_RS256, JWT_ES256, JWT_EDDSA};

static struct jwk_set *open_set(const char *text, enum jwt_algorithm algorithm,
                                char error[SECRET_ERROR])
{
    return jwk_set_open(scratch_write("jwks.json", text, 0644), algorithm, error);
}

static const struct public_key *find(struct jwk_set *set, const char *kid)
{
    struct jwt jwt = {.has_kid = kid != NULL};

    (void)snprintf(jwt.kid, sizeof(jwt.kid), "%s", kid == NULL ? "" : kid);
    return jwk_set_find(set, &jwt);
}

TEST(a_set_with_every_kind_of_key_gives_those_of_its_algorithm)
{
    struct maker_key *keys[COUNT(ALGORITHMS)];
    const char *text = "";

    for (size_t i = 0; i < COUNT(ALGORITHMS); i++) {
        keys[i] = maker_key_new(ALGORITHMS[i], 2048);
        text = maker_text("%s{%s,\"kid\":\"%s\",\"use\":\"sig\",\"alg\":\"%s\"},", text,
                          maker_jwk(keys[i]), jwt_algorithm_name(ALGORITHMS[i]),
                          jwt_algorithm_name(ALGORITHMS[i]));
    }
    text = maker_text("{\"keys\":[%s{\"kty\":\"oct\",\"k\":\"AAAA\"},7,{\"kty\":\"new\"}]}", text);
    for (size_t i = 0; i < COUNT(ALGORITHMS); i++) {
        char error[SECRET_ERROR];
        struct jwt jwt;
        const char *name = jwt_algorithm_name(ALGORITHMS[i]);
        struct jwk_set *set = open_set(text, ALGORITHMS[i], error);
        assert_non_null(set);
        const char *token =
            maker_token(keys[i], maker_text("{\"alg\":\"%s\",\"kid\":\"%s\"}", name, name), "{}");
        assert_true(jwt_parse(str_of(token), &jwt));
        assert_true(public_key_verify(jwk_set_find(set, &jwt), &jwt));
        assert_non_null(find(set, NULL));
        assert_null(find(set, "other"));
        assert_null(find(set, ""));
        jwk_set_free(set);
    }
    for (size_t i = 0; i < COUNT(ALGORITHMS); i++) {
        maker_key_free(keys[i]);
    }
    jwk_set_free(NULL);
}

TEST(a_token_without_kid_has_no_key_where_there_are_several)
{
    struct maker_key *a = maker_key_new(JWT_EDDSA, 0);
    struct maker_key *b = maker_key_new(JWT_EDDSA, 0);
    char error[SECRET_ERROR];
    struct jwk_set *set =
        open_set(maker_text("{\"keys\":[{%s},{%s,\"kid\":\"b\"}]}", maker_jwk(a), maker_jwk(b)),
                 JWT_EDDSA, error);

    assert_non_null(set);
    assert_null(find(set, NULL));
    assert_non_null(find(set, "b"));
    assert_null(find(set, "a"));
    jwk_set_free(set);
    maker_key_free(a);
    maker_key_free(b);
}

TEST(keys_for_another_use_or_algorithm_are_passed_over)
{
    static const char *const OTHERS[] = {"\"use\":\"enc\"", "\"alg\":\"ES384\"", "\"alg\":\"none\"",
                                         "\"use\":7", "\"alg\":null"};
    struct maker_key *key = maker_key_new(JWT_ES256, 0);

    for (size_t i = 0; i < COUNT(OTHERS); i++) {
        char error[SECRET_ERROR];
        assert_null(open_set(maker_text("{\"keys\":[{%s,%s}]}", maker_jwk(key), OTHERS[i]),
                             JWT_ES256, error));
        assert_contains(error, "jwks.json: has no key for ES256");
    }
    maker_key_free(key);
}

TEST(a_set_that_is_wrong_is_refused_with_a_reason)
{
    struct maker_key *key = maker_key_new(JWT_ES256, 0);
    const char *jwk = maker_jwk(key);
    const char *const cases[][2] = {
        {"", "is no JWK set"},
        {"[]", "is no JWK set"},
        {"{}", "is no JWK set"},
        {"{\"keys\":{}}", "is no JWK set"},
        {"{\"keys\":[]", "is no JWK set"},
        {"{\"keys\":[[[[[[[[[[[[[[]]]]]]]]]]]]]]}", "is no JWK set"},
        {"{\"keys\":[]}", "has no key for ES256"},
        {maker_text("{\"keys\":[{%s,\"d\":\"AAAA\"}]}", jwk), "key 0: it is a private key"},
        {maker_text("{\"keys\":[{%s,\"kid\":\"a\"},{%s,\"kid\":\"a\"}]}", jwk, jwk),
         "key 1: an earlier key has the same kid"},
        {maker_text("{\"keys\":[{%s},{%s}]}", jwk, jwk), "key 1: an earlier key has the same kid"},
        {maker_text("{\"keys\":[{%s,\"kid\":\"\"}]}", jwk), "kid must be text"},
        {maker_text("{\"keys\":[{%s,\"kid\":5}]}", jwk), "kid must be text"},
        {maker_text("{\"keys\":[{%s,\"kid\":\"a\\nb\"}]}", jwk), "kid must be printable"},
        {"{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AAAA\"}]}",
         "key 0: x and y are no point"},
        {"{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\"}]}", "key 0: x and y are no point"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char error[SECRET_ERROR] = "";
        assert_null(open_set(cases[i][0], JWT_ES256, error));
        assert_contains(error, cases[i][1]);
    }
    maker_key_free(key);
}

TEST(size_and_number_of_keys_are_bounded)
{
    struct maker_key *key = maker_key_new(JWT_EDDSA, 0);
    const char *list = "";
    char error[SECRET_ERROR];

    for (int i = 0; i <= JWK_SET_MAX; i++) {
        list = maker_text("%s%s{%s,\"kid\":\"k%d\"}", list, i == 0 ? "" : ",", maker_jwk(key), i);
    }
    assert_null(open_set(maker_text("{\"keys\":[%s]}", list), JWT_EDDSA, error));
    assert_contains(error, "key 32: it is one key too many");
    const char *large = maker_text("{\"keys\":[{%s}]}%*s", maker_jwk(key), JWK_SET_FILE_MAX, "");
    assert_null(open_set(large, JWT_EDDSA, error));
    assert_contains(error, "is too large");
    maker_key_free(key);
}

TEST(a_file_that_everyone_may_change_is_refused)
{
    struct maker_key *key = maker_key_new(JWT_EDDSA, 0);
    const char *text = maker_text("{\"keys\":[{%s}]}", maker_jwk(key));
    char error[SECRET_ERROR];

    assert_null(jwk_set_open(scratch_write("jwks.json", text, 0646), JWT_EDDSA, error));
    assert_contains(error, "everyone may change it");
    maker_key_free(key);
}

TEST(a_changed_set_is_read_again_and_a_bad_one_leaves_the_old_keys)
{
    struct maker_key *key = maker_key_new(JWT_EDDSA, 0);
    char error[SECRET_ERROR];
    struct jwk_set *set =
        open_set(maker_text("{\"keys\":[{%s,\"kid\":\"old\"}]}", maker_jwk(key)), JWT_EDDSA, error);
    int64_t now = clock_monotonic_ms();

    assert_non_null(find(set, "old"));
    (void)scratch_write("jwks.json", "{\"keys\":", 0644);
    capture_begin(STDERR_FILENO);
    jwk_set_refresh(set, now += 2000);
    assert_contains(capture_end(STDERR_FILENO), "keys.kept");
    assert_non_null(find(set, "old"));
    (void)scratch_write("jwks.json",
                        maker_text("{\"keys\":[{%s,\"kid\":\"new\"}]}", maker_jwk(key)), 0644);
    capture_begin(STDERR_FILENO);
    jwk_set_refresh(set, now += 2000);
    assert_contains(capture_end(STDERR_FILENO), "keys.read");
    assert_null(find(set, "old"));
    assert_non_null(find(set, "new"));
    jwk_set_free(set);
    maker_key_free(key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_with_every_kind_of_key_gives_those_of_its_algorithm),
        cmocka_unit_test(a_token_without_kid_has_no_key_where_there_are_several),
        cmocka_unit_test(keys_for_another_use_or_algorithm_are_passed_over),
        cmocka_unit_test(a_set_that_is_wrong_is_refused_with_a_reason),
        cmocka_unit_test(size_and_number_of_keys_are_bounded),
        cmocka_unit_test(a_file_that_everyone_may_change_is_refused),
        cmocka_unit_test(a_changed_set_is_read_again_and_a_bad_one_leaves_the_old_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
