#include "tests/unit/unit.h"

#include "tests/unit/member_fixture.h"
#include "tests/unit/scratch.h"

TEST(times_are_checked_with_their_leeway)
{
    static const struct {
        const char *claims; /* behind sub */
        enum member_outcome outcome;
    } CASES[] = {
        {"\"exp\":1800000001", MEMBER_VALID},
        {"\"exp\":1800000000", MEMBER_VALID},
        {"\"exp\":1799999971", MEMBER_VALID},
        {"\"exp\":1799999970", MEMBER_EXPIRED},
        {"\"exp\":1799999970.5", MEMBER_VALID},
        {"\"exp\":1.8000001e9", MEMBER_VALID},
        {"\"exp\":0", MEMBER_EXPIRED},
        {"\"exp\":253402300799", MEMBER_VALID},
        {"\"exp\":253402300800", MEMBER_NO_EXPIRY},
        {"\"exp\":-1", MEMBER_NO_EXPIRY},
        {"\"exp\":-1800000060", MEMBER_NO_EXPIRY},
        {"\"exp\":9223372036854775807", MEMBER_NO_EXPIRY},
        {"\"exp\":99999999999999999999999999", MEMBER_NO_EXPIRY},
        {"\"exp\":-99999999999999999999999999", MEMBER_NO_EXPIRY},
        {"\"exp\":1e400", MEMBER_NO_EXPIRY},
        {"\"exp\":-0.5", MEMBER_NO_EXPIRY},
        {"\"exp\":\"1800000060\"", MEMBER_NO_EXPIRY},
        {"\"exp\":null", MEMBER_NO_EXPIRY},
        {"\"exp\":true", MEMBER_NO_EXPIRY},
        {"\"exp\":[1800000060]", MEMBER_NO_EXPIRY},
        {"\"exp\":{}", MEMBER_NO_EXPIRY},
        {"\"Exp\":1800000060", MEMBER_NO_EXPIRY},
        {"\"iat\":1799999999", MEMBER_NO_EXPIRY},
        {"\"exp\":1800000060,\"exp\":1", MEMBER_EXPIRED},
        {"\"exp\":1,\"exp\":1800000060", MEMBER_VALID},
        {"\"exp\":1800000060,\"nbf\":1800000030", MEMBER_VALID},
        {"\"exp\":1800000060,\"nbf\":1800000031", MEMBER_NOT_YET_VALID},
        {"\"exp\":1800000060,\"nbf\":1800000030.5", MEMBER_NOT_YET_VALID},
        {"\"exp\":1800000060,\"nbf\":0", MEMBER_VALID},
        {"\"exp\":1800000060,\"nbf\":\"0\"", MEMBER_MALFORMED},
        {"\"exp\":1800000060,\"nbf\":null", MEMBER_MALFORMED},
        {"\"exp\":1800000060,\"nbf\":-5", MEMBER_MALFORMED},
        {"\"exp\":1800000060,\"iat\":1900000000", MEMBER_VALID},
    };
    struct member_verifier *verifier = member_by_secret("");

    for (size_t i = 0; i < COUNT(CASES); i++) {
        member_expect(
            verifier,
            member_signed(MEMBER_HS256, maker_text("{\"sub\":\"m\",%s}", CASES[i].claims)),
            CASES[i].outcome, CASES[i].claims);
    }
    member_expect(verifier, member_signed(MEMBER_HS256, "{\"sub\":\"m\",\"exp\":NaN}"),
                  MEMBER_NO_EXPIRY, "NaN");
    member_expect(verifier, member_signed(MEMBER_HS256, "{\"sub\":\"m\",\"exp\":Infinity}"),
                  MEMBER_NO_EXPIRY, "Infinity");
    member_verifier_free(verifier);
}

TEST(the_subject_must_be_a_member_id)
{
    static const struct {
        const char *subject; /* JSON */
        enum member_outcome outcome;
    } CASES[] = {
        {"\"A.b_c:d-9\"", MEMBER_VALID},
        {"\"0123456789012345678901234567890123456789012345678901234567890123\"", MEMBER_VALID},
        {"\"01234567890123456789012345678901234567890123456789012345678901234\"",
         MEMBER_BAD_SUBJECT},
        {"\"\"", MEMBER_BAD_SUBJECT},
        {"\"a b\"", MEMBER_BAD_SUBJECT},
        {"\"a\\u0000b\"", MEMBER_BAD_SUBJECT},
        {"\"a\\nb\"", MEMBER_BAD_SUBJECT},
        {"\"\xc3\xa4\"", MEMBER_BAD_SUBJECT},
        {"\"v~AAAAAAAAAAAAAAAAAAAAAA\"", MEMBER_BAD_SUBJECT},
        {"\"a|b\"", MEMBER_BAD_SUBJECT},
        {"7", MEMBER_BAD_SUBJECT},
        {"null", MEMBER_BAD_SUBJECT},
        {"[\"a\"]", MEMBER_BAD_SUBJECT},
    };
    struct member_verifier *verifier = member_by_secret("");

    for (size_t i = 0; i < COUNT(CASES); i++) {
        member_expect(verifier,
                      member_signed(MEMBER_HS256, maker_text("{\"sub\":%s,\"exp\":1800000060}",
                                                             CASES[i].subject)),
                      CASES[i].outcome, CASES[i].subject);
    }
    member_expect(verifier, member_signed(MEMBER_HS256, "{\"exp\":1800000060}"), MEMBER_BAD_SUBJECT,
                  "no sub");
    member_verifier_free(verifier);
}

TEST(the_audience_counts_where_one_is_configured)
{
    static const struct {
        const char *claims; /* behind exp */
        enum member_outcome outcome;
    } CASES[] = {
        {",\"aud\":\"shop\"", MEMBER_VALID},
        {",\"aud\":[\"x\",\"shop\"]", MEMBER_VALID},
        {",\"aud\":[]", MEMBER_WRONG_AUDIENCE},
        {",\"aud\":[\"x\",7,null,[\"shop\"]]", MEMBER_WRONG_AUDIENCE},
        {",\"aud\":\"Shop\"", MEMBER_WRONG_AUDIENCE},
        {",\"aud\":\"shop\\u0000\"", MEMBER_WRONG_AUDIENCE},
        {",\"aud\":\"\"", MEMBER_WRONG_AUDIENCE},
        {",\"aud\":{\"shop\":1}", MEMBER_WRONG_AUDIENCE},
        {",\"aud\":null", MEMBER_WRONG_AUDIENCE},
        {"", MEMBER_WRONG_AUDIENCE},
    };
    struct member_verifier *choosy = member_by_secret("shop");
    struct member_verifier *easy = member_by_secret("");

    for (size_t i = 0; i < COUNT(CASES); i++) {
        const char *token = member_signed(
            MEMBER_HS256, maker_text("{\"sub\":\"m\",\"exp\":1800000060%s}", CASES[i].claims));
        member_expect(choosy, token, CASES[i].outcome, CASES[i].claims);
        member_expect(easy, token, MEMBER_VALID, CASES[i].claims);
    }
    member_verifier_free(choosy);
    member_verifier_free(easy);
}

TEST(tokens_made_for_trying_things_are_accepted)
{
    struct member_verifier *verifier = member_by_secret("a \"shop\"");
    struct buffer out;
    struct member member;

    buffer_init(&out, JWT_MAX);
    assert_true(member_jwt_sign(verifier, STR("m-1"), MEMBER_NOW_MS, 60, &out));
    assert_int_equal(member_jwt_verify(verifier, buffer_text(&out), MEMBER_NOW_MS, &member),
                     MEMBER_VALID);
    assert_string_equal(member.id, "m-1");
    assert_int_equal(member_jwt_verify(verifier, buffer_text(&out), MEMBER_NOW_MS + 90000, &member),
                     MEMBER_EXPIRED);
    assert_false(member_jwt_sign(verifier, STR("v~x"), MEMBER_NOW_MS, 60, &out));
    buffer_free(&out);
    member_verifier_free(verifier);
}

/* While the shop's login changes its secret, tokens of both are about. */
TEST(two_secrets_are_both_good_and_the_first_signs)
{
    static const char *const bad[] = {"short\n",
                                      MEMBER_SECRET "\n\n",
                                      MEMBER_SECRET "\nshort\n",
                                      MEMBER_SECRET "\r\n",
                                      "\n",
                                      MEMBER_SECRET "\n" MEMBER_SECRET "\n" MEMBER_SECRET
                                                    "\n" MEMBER_SECRET "\n" MEMBER_SECRET "\n"};
    struct member_verifier *old = member_by_secret("");
    struct buffer by_old, by_new;
    struct member member;
    char error[SECRET_ERROR];

    struct settings *settings = member_settings();
    settings->member_jwt_key_file =
        scratch_write("two.key", "another secret of 32 characters!\n" MEMBER_SECRET "\n", 0600);
    struct member_verifier *both = member_verifier_new(settings, error);
    assert_non_null(both);
    buffer_init(&by_old, JWT_MAX);
    buffer_init(&by_new, JWT_MAX);
    assert_true(member_jwt_sign(old, STR("m-1"), MEMBER_NOW_MS, 60, &by_old));
    assert_true(member_jwt_sign(both, STR("m-1"), MEMBER_NOW_MS, 60, &by_new));
    assert_int_equal(member_jwt_verify(both, buffer_text(&by_old), MEMBER_NOW_MS, &member),
                     MEMBER_VALID);
    assert_int_equal(member_jwt_verify(both, buffer_text(&by_new), MEMBER_NOW_MS, &member),
                     MEMBER_VALID);
    assert_int_equal(member_jwt_verify(old, buffer_text(&by_new), MEMBER_NOW_MS, &member),
                     MEMBER_BAD_SIGNATURE);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        settings->member_jwt_key_file = scratch_write("bad.key", bad[i], 0600);
        assert_null(member_verifier_new(settings, error));
    }
    buffer_free(&by_old);
    buffer_free(&by_new);
    member_verifier_free(both);
    member_verifier_free(old);
}

/* As in rings of keys, and for sluice-keys. */
TEST(a_remark_in_the_file_is_no_secret)
{
    static const char remark[] = "# the login's secret, changed in spring";
    struct settings *settings = member_settings();
    struct buffer token;
    struct member member;
    char error[SECRET_ERROR];

    settings->member_jwt_key_file = scratch_write(
        "remark.key", "# the login's secret, changed in spring\n" MEMBER_SECRET "\n", 0600);
    struct member_verifier *verifier = member_verifier_new(settings, error);
    assert_non_null(verifier);
    settings->member_jwt_key_file = scratch_write("only.key", MEMBER_SECRET "\n", 0600);
    struct member_verifier *shop = member_verifier_new(settings, error);
    assert_non_null(shop);
    buffer_init(&token, JWT_MAX);
    assert_true(member_jwt_sign(verifier, STR("m-1"), MEMBER_NOW_MS, 60, &token));
    assert_int_equal(member_jwt_verify(shop, buffer_text(&token), MEMBER_NOW_MS, &member),
                     MEMBER_VALID);
    settings->member_jwt_key_file = scratch_write("none.key", remark, 0600);
    assert_null(member_verifier_new(settings, error));
    buffer_free(&token);
    member_verifier_free(verifier);
    member_verifier_free(shop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_checked_with_their_leeway),
        cmocka_unit_test(the_subject_must_be_a_member_id),
        cmocka_unit_test(the_audience_counts_where_one_is_configured),
        cmocka_unit_test(tokens_made_for_trying_things_are_accepted),
        cmocka_unit_test(two_secrets_are_both_good_and_the_first_signs),
        cmocka_unit_test(a_remark_in_the_file_is_no_secret),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
