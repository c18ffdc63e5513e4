#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/digest.h"
#include "lib/base/encoding.h"
#include "lib/base/random.h"

TEST(the_examples_of_rfc_4648_are_encoded_without_padding)
{
    static const char *const CASES[][2] = {
        {"", ""},           {"f", "Zg"},          {"fo", "Zm8"},          {"foo", "Zm9v"},
        {"foob", "Zm9vYg"}, {"fooba", "Zm9vYmE"}, {"foobar", "Zm9vYmFy"}, {"\xfb\xff", "-_8"},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        char text[16];
        unsigned char bytes[8];
        size_t length;
        size_t n = base64url_encode(CASES[i][0], strlen(CASES[i][0]), text);
        assert_string_equal(text, CASES[i][1]);
        assert_int_equal(n, BASE64URL_LENGTH(strlen(CASES[i][0])));
        assert_true(base64url_decode(str_of(CASES[i][1]), bytes, sizeof(bytes), &length));
        assert_text(str_sized((const char *)bytes, length), CASES[i][0]);
    }
}

TEST(only_the_one_canonical_text_is_decoded)
{
    static const char *const REFUSED[] = {
        "A",    /* six bits are no byte */
        "Zh",   /* stray bits */
        "Zm9",  /* stray bits */
        "Zg==", /* padding */
        "Zm8=", "Zg ", " Zg", "Zm9v\n", "Zm+v", "Zm/v", "Zm9vZ", "Zm.v", "\xc3\xa4zz",
    };
    unsigned char bytes[16];
    size_t length;

    for (size_t i = 0; i < COUNT(REFUSED); i++) {
        if (base64url_decode(str_of(REFUSED[i]), bytes, sizeof(bytes), &length)) {
            fail_msg("'%s' was decoded", REFUSED[i]);
        }
    }
    assert_false(base64url_decode(STR("Zm\0v"), bytes, sizeof(bytes), &length));
}

TEST(nothing_is_written_behind_the_room_given)
{
    unsigned char bytes[4] = {9, 9, 9, 9};
    size_t length;

    assert_false(base64url_decode(STR("Zm9vYg"), bytes, 3, &length));
    assert_int_equal(bytes[3], 9);
    assert_true(base64url_decode(STR("Zm9v"), bytes, 3, &length));
    assert_int_equal(length, 3);
    assert_int_equal(bytes[3], 9);
}

TEST(random_bytes_of_every_length_survive_encoding)
{
    for (size_t n = 0; n < 100; n++) {
        unsigned char bytes[100];
        unsigned char again[100];
        char text[BASE64URL_LENGTH(100) + 1];
        size_t length;
        random_bytes(bytes, n);
        assert_int_equal(base64url_encode(bytes, n, text), BASE64URL_LENGTH(n));
        assert_true(base64url_decode(str_of(text), again, sizeof(again), &length));
        assert_int_equal(length, n);
        assert_memory_equal(bytes, again, n);
    }
}

TEST(tokens_and_ids_have_their_length_and_differ)
{
    char a[RANDOM_TOKEN_TEXT + 1];
    char b[RANDOM_TOKEN_TEXT + 1];
    char id[RANDOM_ID_TEXT + 1];

    random_token(a);
    random_token(b);
    random_id(id);
    assert_int_equal(strlen(a), RANDOM_TOKEN_TEXT);
    assert_int_equal(strlen(id), RANDOM_ID_TEXT);
    assert_string_not_equal(a, b);
}

TEST(random_numbers_stay_below_their_bound_and_reach_all_of_it)
{
    bool seen[5] = {false};

    for (int i = 0; i < 1000; i++) {
        uint32_t n = random_below(5);
        assert_true(n < 5);
        seen[n] = true;
    }
    for (size_t i = 0; i < COUNT(seen); i++) {
        assert_true(seen[i]);
    }
    assert_int_equal(random_below(1), 0);
}

static void hex(const unsigned char *bytes, size_t n, char *out)
{
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    }
}

TEST(sha256_and_hmac_give_the_published_values)
{
    unsigned char digest[SHA256_BYTES];
    char text[2 * SHA256_BYTES + 1];
    char url[SHA256_TEXT + 1];

    sha256(STR("abc"), digest); /* FIPS 180-2, appendix B.1 */
    hex(digest, sizeof(digest), text);
    assert_string_equal(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_text(str_of(NULL), url);
    assert_string_equal(url, "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
    hmac_sha256(STR("Jefe"), STR("what do ya want for nothing?"), digest); /* RFC 4231, 4.3 */
    hex(digest, sizeof(digest), text);
    assert_string_equal(text, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(comparison_of_secrets_looks_at_every_byte_and_the_length)
{
    assert_true(constant_time_equal(STR("secret"), STR("secret")));
    assert_false(constant_time_equal(STR("secret"), STR("secreT")));
    assert_false(constant_time_equal(STR("secret"), STR("secret ")));
    assert_false(constant_time_equal(STR("a\0b"), STR("a\0c")));
    assert_true(constant_time_equal(str_of(NULL), STR("")));
}

TEST(hexadecimal_has_small_letters_and_exactly_the_length_wanted)
{
    static const char *const REFUSED[] = {"",     "00f",  "00ff1", "00ff10",
                                          "00FF", "00fg", "0x0f",  " 0ff"};
    unsigned char bytes[3] = {1, 1, 7};
    char text[5];

    hex_encode("\x00\xff", 2, text);
    assert_string_equal(text, "00ff");
    assert_true(hex_decode(STR("a00f"), bytes, 2));
    assert_int_equal(bytes[0], 0xa0);
    assert_int_equal(bytes[1], 0x0f);
    assert_int_equal(bytes[2], 7);
    for (size_t i = 0; i < COUNT(REFUSED); i++) {
        assert_false(hex_decode(str_of(REFUSED[i]), bytes, 2));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_examples_of_rfc_4648_are_encoded_without_padding),
        cmocka_unit_test(only_the_one_canonical_text_is_decoded),
        cmocka_unit_test(nothing_is_written_behind_the_room_given),
        cmocka_unit_test(hexadecimal_has_small_letters_and_exactly_the_length_wanted),
        cmocka_unit_test(random_bytes_of_every_length_survive_encoding),
        cmocka_unit_test(tokens_and_ids_have_their_length_and_differ),
        cmocka_unit_test(random_numbers_stay_below_their_bound_and_reach_all_of_it),
        cmocka_unit_test(sha256_and_hmac_give_the_published_values),
        cmocka_unit_test(comparison_of_secrets_looks_at_every_byte_and_the_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
