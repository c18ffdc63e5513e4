#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/digest.h"
#include "lib/base/encoding.h"
#include "lib/base/identifier.h"
#include "lib/identity/visitor.h"
#include "tests/unit/scratch.h"
#include "tests/unit/token_maker.h"

#define SECRET  "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define ID      "v~AAAAAAAAAAAAAAAAAAAAAA"
#define NOW_S   1800000000
#define NOW_MS  (NOW_S * INT64_C(1000))
#define MAX_AGE 3600

static struct key_set *keys;
static char id[VISITOR_ID_TEXT + 1];

static int open_all(__attribute__((unused)) void **state)
{
    char error[SECRET_ERROR];
    const char *ring = maker_text("k1:%s\n", maker_base64url(SECRET));

    keys = key_set_open(scratch_write("ring", ring, 0600), error);
    return keys == NULL ? -1 : 0;
}

static int close_all(__attribute__((unused)) void **state)
{
    key_set_free(keys);
    return 0;
}

static bool verify(const char *value)
{
    return visitor_cookie_verify(keys, str_of(value), MAX_AGE, NOW_MS, id);
}

/* `text` with the MAC that the right key gives it for `purpose`. */
static const char *signed_as(const char *purpose, const char *text)
{
    const char *whole = maker_text("%s%s", purpose, text);
    unsigned char mac[SHA256_BYTES];
    char mac_text[SHA256_TEXT + 1];

    hmac_sha256(STR(SECRET), str_of(whole), mac);
    base64url_encode(mac, sizeof(mac), mac_text);
    return maker_text("%s.%s", text, mac_text);
}

static const char *signed_here(const char *text)
{
    return signed_as("sluice visitor cookie\n", text);
}

TEST(visitor_ids_are_new_each_time_and_never_member_ids)
{
    char other[VISITOR_ID_TEXT + 1];

    visitor_id_new(id);
    visitor_id_new(other);
    assert_string_not_equal(id, other);
    assert_true(visitor_id_is(str_of(id)));
    assert_false(identifier_is_member(str_of(id)));
    assert_true(visitor_or_member_is(str_of(id)));
    assert_true(visitor_or_member_is(STR("m-1")));
    assert_false(visitor_or_member_is(STR("a b")));
}

TEST(only_the_exact_form_is_a_visitor_id)
{
    static const char *const REFUSED[] = {
        "",
        "v~",
        "v~AAAAAAAAAAAAAAAAAAAAA",
        "v~AAAAAAAAAAAAAAAAAAAAAAA",
        "V~AAAAAAAAAAAAAAAAAAAAAA",
        "v-AAAAAAAAAAAAAAAAAAAAAA",
        "v~AAAAAAAAAAAAAAAAAAAAAB",
        "v~AAAAAAAAAAAAAAAAAAAA==",
        "v~AAAAAAAAAAAAAAAAAAAA.A",
        "v~~AAAAAAAAAAAAAAAAAAAAA",
    };

    assert_true(visitor_id_is(STR(ID)));
    for (size_t i = 0; i < COUNT(REFUSED); i++) {
        assert_false(visitor_id_is(str_of(REFUSED[i])));
    }
}

TEST(a_cookie_is_verified_and_names_its_visitor)
{
    char value[VISITOR_COOKIE_TEXT + 1];

    size_t length = visitor_cookie_make(keys, STR(ID), NOW_MS + 999, value);
    assert_int_equal(length, strlen(value));
    assert_string_equal(value, signed_here("v1.k1." ID ".1800000000"));
    assert_true(verify(value));
    assert_string_equal(id, ID);
}

TEST(the_longest_kid_leaves_room_enough)
{
    char error[SECRET_ERROR];
    char value[VISITOR_COOKIE_TEXT + 1];
    const char *ring = maker_text("k2345678901234567890123456789012:%s\n", maker_base64url(SECRET));
    struct key_set *others = key_set_open(scratch_write("other", ring, 0600), error);

    assert_non_null(others);
    size_t length = visitor_cookie_make(others, STR(ID), 253402300799000, value);
    assert_true(length <= VISITOR_COOKIE_TEXT);
    assert_true(
        visitor_cookie_verify(others, str_sized(value, length), MAX_AGE, 253402300799000, id));
    assert_false(
        visitor_cookie_verify(keys, str_sized(value, length), MAX_AGE, 253402300799000, id));
    key_set_free(others);
}

TEST(a_cookie_is_refused_once_it_is_too_old_or_from_the_future)
{
    assert_true(verify(signed_here("v1.k1." ID ".1799996400")));
    assert_false(verify(signed_here("v1.k1." ID ".1799996399")));
    assert_false(verify(signed_here("v1.k1." ID ".0")));
    assert_true(verify(signed_here("v1.k1." ID ".1800000300")));
    assert_false(verify(signed_here("v1.k1." ID ".1800000301")));
}

TEST(any_other_form_is_refused_even_where_the_mac_is_right)
{
    static const char *const REFUSED[] = {
        "",
        "v1",
        "v2.k1." ID ".1800000000",
        "v1.k2." ID ".1800000000",
        "v1.." ID ".1800000000",
        "v1.k1.." ID ".1800000000",
        "v1.k1." ID,
        "v1.k1." ID ".",
        "v1.k1." ID ".01800000000",
        "v1.k1." ID ".-1",
        "v1.k1." ID ".+1800000000",
        "v1.k1." ID ".1800000000 ",
        "v1.k1." ID ".1.8e9",
        "v1.k1." ID ".9999999999999999999999",
        "v1.k1.m-1.1800000000",
        "v1.k1.v~AAAAAAAAAAAAAAAAAAAAAB.1800000000",
        " v1.k1." ID ".1800000000",
    };

    for (size_t i = 0; i < COUNT(REFUSED); i++) {
        memcpy(id, "untouched", sizeof("untouched"));
        if (verify(signed_here(REFUSED[i]))) {
            fail_msg("'%s' was accepted", REFUSED[i]);
        }
        assert_string_equal(id, "untouched");
    }
    assert_false(verify("v1.k1." ID ".1800000000"));
    assert_false(verify("v1.k1." ID ".1800000000."));
    assert_false(verify(""));
}

TEST(a_mac_for_another_purpose_does_not_fit)
{
    assert_false(verify(signed_as("", "v1.k1." ID ".1800000000")));
    assert_false(verify(signed_as("sluice queue pass\n", "v1.k1." ID ".1800000000")));
}

TEST(every_changed_or_missing_character_makes_a_cookie_invalid)
{
    char value[VISITOR_COOKIE_TEXT + 1];
    size_t length = visitor_cookie_make(keys, STR(ID), NOW_MS, value);

    for (size_t n = 0; n < length; n++) {
        char *cut = strndup(value, n); /* of its own, so that a read too far is found */
        assert_false(visitor_cookie_verify(keys, str_sized(cut, n), MAX_AGE, NOW_MS, id));
        free(cut);
        char right = value[n];
        for (const char *c = "Ab9-_.~="; *c != '\0'; c++) {
            value[n] = *c;
            assert_int_equal(verify(value), *c == right);
        }
        value[n] = right;
    }
    assert_false(verify(maker_text("%sA", value)));
    assert_false(verify(maker_text("%s.A", value)));
    assert_false(verify(maker_text("%500s", value)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visitor_ids_are_new_each_time_and_never_member_ids),
        cmocka_unit_test(only_the_exact_form_is_a_visitor_id),
        cmocka_unit_test(a_cookie_is_verified_and_names_its_visitor),
        cmocka_unit_test(the_longest_kid_leaves_room_enough),
        cmocka_unit_test(a_cookie_is_refused_once_it_is_too_old_or_from_the_future),
        cmocka_unit_test(any_other_form_is_refused_even_where_the_mac_is_right),
        cmocka_unit_test(a_mac_for_another_purpose_does_not_fit),
        cmocka_unit_test(every_changed_or_missing_character_makes_a_cookie_invalid),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
