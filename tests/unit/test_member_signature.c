#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/identity/queue_ticket.h"
#include "tests/unit/capture.h"
#include "tests/unit/member_fixture.h"
#include "tests/unit/scratch.h"

TEST(a_good_token_names_its_member_by_every_algorithm)
{
    static const enum jwt_algorithm ALGORITHMS[] = {JWT_RS256, JWT_ES256, JWT_EDDSA};
    struct member member;
    struct member_verifier *verifier = member_by_secret("");

    assert_int_equal(member_jwt_verify(verifier, str_of(member_signed(MEMBER_HS256, MEMBER_CLAIMS)),
                                       MEMBER_NOW_MS, &member),
                     MEMBER_VALID);
    assert_string_equal(member.id, "m-1");
    member_verifier_free(verifier);
    for (size_t i = 0; i < COUNT(ALGORITHMS); i++) {
        struct maker_key *key = maker_key_new(ALGORITHMS[i], 2048);
        const char *name = jwt_algorithm_name(ALGORITHMS[i]);
        verifier = member_by_public_key(ALGORITHMS[i], key);
        member_expect(
            verifier,
            maker_token(key, maker_text("{\"alg\":\"%s\",\"kid\":\"k\"}", name), MEMBER_CLAIMS),
            MEMBER_VALID, name);
        member_expect(verifier,
                      maker_token(key, maker_text("{\"alg\":\"%s\"}", name), MEMBER_CLAIMS),
                      MEMBER_VALID, name);
        member_expect(
            verifier,
            maker_token(key, maker_text("{\"alg\":\"%s\",\"kid\":\"x\"}", name), MEMBER_CLAIMS),
            MEMBER_UNKNOWN_KEY, name);
        member_expect(verifier,
                      maker_token(key,
                                  maker_text("{\"alg\":\"%s\",\"kid\":\"../../etc/passwd\"}", name),
                                  MEMBER_CLAIMS),
                      MEMBER_UNKNOWN_KEY, name);
        struct maker_key *other = maker_key_new(ALGORITHMS[i], 2048);
        member_expect(
            verifier,
            maker_token(other, maker_text("{\"alg\":\"%s\",\"kid\":\"k\"}", name), MEMBER_CLAIMS),
            MEMBER_BAD_SIGNATURE, name);
        maker_key_free(other);
        maker_key_free(key);
        member_verifier_free(verifier);
    }
    member_verifier_free(NULL);
}

TEST(the_algorithm_is_pinned_whatever_the_header_says)
{
    static const char *const NAMES[] = {"none",  "None",  "NONE",  "nOnE",  "hs256", "HS384",
                                        "HS512", "RS256", "ES256", "EdDSA", "PS256", "HS256 "};
    struct member_verifier *verifier = member_by_secret("");

    for (size_t i = 0; i < COUNT(NAMES); i++) {
        const char *header = maker_text("{\"alg\":\"%s\"}", NAMES[i]);
        member_expect(verifier, maker_token_with(header, MEMBER_CLAIMS, ""), MEMBER_WRONG_ALGORITHM,
                      NAMES[i]);
        member_expect(verifier, member_signed(header, MEMBER_CLAIMS), MEMBER_WRONG_ALGORITHM,
                      NAMES[i]);
    }
    member_expect(verifier, maker_token_with(MEMBER_HS256, MEMBER_CLAIMS, ""), MEMBER_BAD_SIGNATURE,
                  "no signature");
    member_verifier_free(verifier);
}

TEST(an_hmac_keyed_with_the_public_key_is_refused)
{
    struct maker_key *key = maker_key_new(JWT_RS256, 2048);
    struct member_verifier *verifier = member_by_public_key(JWT_RS256, key);
    const char *pem = maker_pem(key);
    const char *jwk = maker_text("{%s}", maker_jwk(key));
    const char *secrets[] = {pem, jwk};

    for (size_t i = 0; i < COUNT(secrets); i++) {
        member_expect(verifier, maker_token_hs256(str_of(secrets[i]), MEMBER_HS256, MEMBER_CLAIMS),
                      MEMBER_WRONG_ALGORITHM, "HS256 named");
        member_expect(verifier,
                      maker_token_hs256(str_of(secrets[i]), "{\"alg\":\"RS256\"}", MEMBER_CLAIMS),
                      MEMBER_BAD_SIGNATURE, "RS256 named");
    }
    member_expect(verifier,
                  maker_token_hs256(STR(MEMBER_SECRET),
                                    "{\"alg\":\"RS256\",\"jwk\":{},\"jku\":\"http://x/\"}",
                                    MEMBER_CLAIMS),
                  MEMBER_BAD_SIGNATURE, "a key of its own");
    member_verifier_free(verifier);
    maker_key_free(key);
}

TEST(the_type_is_jwt_or_none_and_never_a_queue_ticket)
{
    static const struct {
        const char *type;
        enum member_outcome outcome;
    } CASES[] = {
        {"JWT", MEMBER_VALID},
        {"jwt", MEMBER_VALID},
        {"at+jwt", MEMBER_VALID},
        {"AT+JWT", MEMBER_VALID},
        {"queue-ticket+jwt", MEMBER_WRONG_TYPE},
        {"dpop+jwt", MEMBER_WRONG_TYPE},
        {"JWT ", MEMBER_WRONG_TYPE},
        {"", MEMBER_MALFORMED},
    };
    struct member_verifier *verifier = member_by_secret("");

    for (size_t i = 0; i < COUNT(CASES); i++) {
        member_expect(verifier,
                      member_signed(maker_text("{\"alg\":\"HS256\",\"typ\":\"%s\"}", CASES[i].type),
                                    MEMBER_CLAIMS),
                      CASES[i].outcome, CASES[i].type);
    }
    member_expect(verifier, member_signed("{\"alg\":\"HS256\"}", MEMBER_CLAIMS), MEMBER_VALID,
                  "no type");
    member_expect(verifier, member_signed("{\"alg\":\"HS256\",\"typ\":null}", MEMBER_CLAIMS),
                  MEMBER_MALFORMED, "null");
    member_verifier_free(verifier);
}

TEST(a_queue_ticket_is_refused_even_where_both_have_the_same_secret)
{
    char error[SECRET_ERROR];
    char text[QUEUE_TICKET_TEXT + 1];
    const char *ring = maker_text("k:%s\n", maker_base64url(MEMBER_SECRET));
    struct key_set *keys = key_set_open(scratch_write("ring", ring, 0600), error);
    struct member_verifier *verifier = member_by_secret("");
    const struct queue_ticket ticket = {.subject = STR("m-1"),
                                        .queue = STR("q"),
                                        .lane = STR("main"),
                                        .epoch = 1,
                                        .seq = 1,
                                        .incarnation = 1,
                                        .issued_at_s = MEMBER_NOW_S,
                                        .expires_at_s = MEMBER_NOW_S + 60};

    assert_non_null(keys);
    assert_true(queue_ticket_sign(keys, &ticket, text) > 0);
    member_expect(verifier, text, MEMBER_WRONG_TYPE, "a queue ticket");
    member_verifier_free(verifier);
    key_set_free(keys);
}

TEST(hostile_tokens_are_malformed)
{
    struct member_verifier *verifier = member_by_secret("");
    const char *good = member_signed(MEMBER_HS256, MEMBER_CLAIMS);
    char *bomb = strdup(maker_text("{\"sub\":\"m\",\"exp\":1800000060,\"x\":%*s1}", 2000, ""));

    for (char *c = bomb; *c != '\0'; c++) {
        *c = *c == ' ' ? '[' : *c;
    }
    member_expect(verifier, member_signed(MEMBER_HS256, bomb), MEMBER_MALFORMED, "a nested bomb");
    free(bomb);
    member_expect(verifier, "", MEMBER_MALFORMED, "nothing");
    member_expect(verifier, maker_text("%sA", good), MEMBER_BAD_SIGNATURE, "garbage behind");
    member_expect(verifier, maker_text("%s\n", good), MEMBER_MALFORMED, "a newline behind");
    member_expect(verifier, maker_text("%s=", good), MEMBER_MALFORMED, "padding");
    member_expect(verifier, maker_text("%s.%s", good, good), MEMBER_MALFORMED, "twice");
    member_expect(verifier, maker_text("%9000s", good), MEMBER_MALFORMED, "oversize");
    member_expect(verifier, member_signed("{\"alg\":\"HS256\",\"crit\":[\"exp\"]}", MEMBER_CLAIMS),
                  MEMBER_MALFORMED, "crit");
    member_expect(verifier, member_signed(MEMBER_HS256, "[]"), MEMBER_MALFORMED,
                  "claims are a list");
    member_expect(verifier, member_signed(MEMBER_HS256, MEMBER_CLAIMS "x"), MEMBER_MALFORMED,
                  "garbage behind claims");
    member_expect(verifier, member_signed(MEMBER_HS256, ""), MEMBER_MALFORMED, "no claims");
    member_expect(
        verifier,
        maker_token_hs256(STR("another secret of 32 characters.."), MEMBER_HS256, MEMBER_CLAIMS),
        MEMBER_BAD_SIGNATURE, "another secret");
    member_expect(verifier, maker_token_hs256(STR(MEMBER_SECRET "\n"), MEMBER_HS256, MEMBER_CLAIMS),
                  MEMBER_BAD_SIGNATURE, "the newline is no part of the secret");
    member_verifier_free(verifier);
}

TEST(a_last_character_with_stray_bits_is_no_second_form_of_a_token)
{
    struct member_verifier *verifier = member_by_secret("");
    char *token = strdup(member_signed(MEMBER_HS256, MEMBER_CLAIMS));
    char *last = token + strlen(token) - 1;
    char right = *last;
    int accepted = 0;

    for (const char *c = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
         *c != '\0'; c++) {
        struct member member;
        *last = *c;
        bool valid =
            member_jwt_verify(verifier, str_of(token), MEMBER_NOW_MS, &member) == MEMBER_VALID;
        assert_int_equal(valid, *c == right);
        accepted += valid;
    }
    assert_int_equal(accepted, 1);
    free(token);
    member_verifier_free(verifier);
}

TEST(a_changed_secret_is_read_again_within_about_a_second)
{
    struct member_verifier *verifier = member_by_secret("");
    const struct str fresh = STR("another secret of 32 characters!!");
    const char *token = maker_token_hs256(fresh, MEMBER_HS256, MEMBER_CLAIMS);
    struct member member;

    (void)scratch_write("member.key", fresh.p, 0600);
    capture_begin(STDERR_FILENO);
    wait_until(member_jwt_verify(verifier, str_of(token), MEMBER_NOW_MS, &member) == MEMBER_VALID,
               5);
    assert_contains(capture_end(STDERR_FILENO), "keys.read");
    assert_int_equal(member_jwt_verify(verifier, str_of(token), MEMBER_NOW_MS, &member),
                     MEMBER_VALID);
    member_verifier_free(verifier);
}

TEST(a_key_file_that_is_weak_or_missing_is_refused_by_name)
{
    static const char *const SECRETS[] = {"", "short\n", "0123456789012345678901234567890\n",
                                          "two lines of a secret that is\nlong enough to count\n",
                                          "0123456789012345678901234567890\xc3\xa4\n"};
    struct settings *settings = member_settings();
    char error[SECRET_ERROR];

    settings->member_jwt_algorithm = "HS256";
    for (size_t i = 0; i < COUNT(SECRETS); i++) {
        settings->member_jwt_key_file = scratch_write("weak.key", SECRETS[i], 0600);
        assert_null(member_verifier_new(settings, error));
        assert_contains(error, "weak.key");
    }
    settings->member_jwt_key_file = scratch_write("weak.key", MEMBER_SECRET, 0644);
    assert_null(member_verifier_new(settings, error));
    assert_contains(error, "chmod 600");
    settings->member_jwt_key_file = "";
    assert_null(member_verifier_new(settings, error));
    assert_contains(error, "member_jwt_key_file must be set: member_jwt_algorithm is HS256");
    settings->member_jwt_algorithm = "EdDSA";
    settings->member_jwks_file = "";
    assert_null(member_verifier_new(settings, error));
    assert_contains(error, "member_jwks_file must be set: member_jwt_algorithm is EdDSA");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_token_names_its_member_by_every_algorithm),
        cmocka_unit_test(the_algorithm_is_pinned_whatever_the_header_says),
        cmocka_unit_test(an_hmac_keyed_with_the_public_key_is_refused),
        cmocka_unit_test(the_type_is_jwt_or_none_and_never_a_queue_ticket),
        cmocka_unit_test(a_queue_ticket_is_refused_even_where_both_have_the_same_secret),
        cmocka_unit_test(hostile_tokens_are_malformed),
        cmocka_unit_test(a_last_character_with_stray_bits_is_no_second_form_of_a_token),
        cmocka_unit_test(a_changed_secret_is_read_again_within_about_a_second),
        cmocka_unit_test(a_key_file_that_is_weak_or_missing_is_refused_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
