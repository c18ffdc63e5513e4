#include "tests/unit/unit.h"

#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/encoding.h"
#include "lib/captcha/altcha.h"
#include "lib/captcha/altcha_payload.h"
#include "tests/unit/scratch.h"
#include "tests/unit/token_maker.h"

#define SECRET_A "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE"
#define SECRET_B "QkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkI"
#define NOW_MS   INT64_C(1800000000999)

static struct key_set *keys;
static struct arena *arena;
static const struct altcha_subject SUBJECT = {.event = {"drop-1", 6}, .caller = {"m-1", 3}};

static int open_all(__attribute__((unused)) void **state)
{
    char error[SECRET_ERROR];

    arena = arena_new();
    keys = key_set_open(scratch_write("ring", "a:" SECRET_A "\n", 0600), error);
    return keys == NULL ? -1 : 0;
}

static int close_all(__attribute__((unused)) void **state)
{
    key_set_free(keys);
    arena_free(arena);
    return 0;
}

/* A challenge and its solution, as text. */
struct solved {
    const char *challenge;
    const char *derived_key;
    uint32_t counter;
};

/* The text between `before` and the next quotation mark. */
static struct str piece(const char *json, const char *before)
{
    const char *begin = strstr(json, before);

    assert_non_null(begin);
    begin += strlen(before);
    return str_sized(begin, strcspn(begin, "\""));
}

/* The challenge with this counter and the key that it gives. */
static struct solved derived_for(const char *challenge, uint32_t counter)
{
    struct solved solved = {.challenge = challenge, .counter = counter};
    unsigned char salt[16];
    unsigned char nonce[16];
    unsigned char key[SHA256_BYTES];
    char *hex = arena_alloc(arena, ALTCHA_HEX_KEY + 1);

    assert_true(hex_decode(piece(challenge, "\"salt\":\""), salt, sizeof(salt)));
    assert_true(hex_decode(piece(challenge, "\"nonce\":\""), nonce, sizeof(nonce)));
    altcha_derive(salt, sizeof(salt), nonce, sizeof(nonce), counter, key);
    hex_encode(key, sizeof(key), hex);
    solved.derived_key = hex;
    return solved;
}

static struct solved challenge_of(struct key_set *ring)
{
    struct solved solved = {0};
    struct buffer out;

    buffer_init(&out, 4096);
    altcha_challenge(ring, arena, &SUBJECT, NOW_MS, &out);
    assert_true(buffer_ok(&out));
    const char *challenge = arena_copy(arena, buffer_text(&out));
    buffer_free(&out);
    struct str prefix = piece(challenge, "\"keyPrefix\":\"");
    for (uint32_t counter = 0; counter <= ALTCHA_COUNTER_MAX; counter++) {
        solved = derived_for(challenge, counter);
        if (str_starts(str_of(solved.derived_key), prefix)) {
            return solved;
        }
    }
    fail_msg("no counter solves %s", challenge);
    return solved;
}

/* Standard base64 with padding. */
static const char *base64(const char *text)
{
    char *out = arena_alloc(arena, strlen(text) * 2 + 8);
    size_t n = base64url_encode(text, strlen(text), out);

    for (size_t i = 0; i < n; i++) {
        out[i] = (char)(out[i] == '-' ? '+' : out[i] == '_' ? '/' : out[i]);
    }
    for (; n % 4 != 0; n++) {
        out[n] = '=';
    }
    out[n] = '\0';
    return out;
}

static enum altcha_outcome verify_for(struct key_set *ring, struct altcha_subject subject,
                                      const char *json, int64_t now_ms)
{
    struct str nonce;

    return altcha_verify(ring, arena, &subject, str_of(base64(json)), now_ms, &nonce);
}

static enum altcha_outcome verify(const char *json)
{
    return verify_for(keys, SUBJECT, json, NOW_MS);
}

static const char *payload(const struct solved *solved)
{
    return arena_format(arena,
                        "{\"challenge\":%s,\"solution\":{\"counter\":%u,\"derivedKey\":\"%s\"}}",
                        solved->challenge, solved->counter, solved->derived_key);
}

/* `text` with the first `from` made `to`. */
static const char *changed(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);

    assert_non_null(at);
    return arena_format(arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static void assert_derived(const char *salt_text, const char *nonce_text, uint32_t counter,
                           const char *expected)
{
    unsigned char salt[16];
    unsigned char nonce[16];
    unsigned char key[SHA256_BYTES];
    char hex[ALTCHA_HEX_KEY + 1];

    assert_true(hex_decode(str_of(salt_text), salt, sizeof(salt)));
    assert_true(hex_decode(str_of(nonce_text), nonce, sizeof(nonce)));
    altcha_derive(salt, sizeof(salt), nonce, sizeof(nonce), counter, key);
    hex_encode(key, sizeof(key), hex);
    assert_string_equal(hex, expected);
}

TEST(keys_are_derived_as_altcha_s_own_library_does)
{
    assert_derived("382855b4a5038e5e68f963c9f31bf2fe", "35cc4cae0f13120ca6f5d62e3dfb827b", 18417,
                   "000f2e2b569e080a6359f4d73ad2034894ce99dc47b9a7a2174735f75bddc8b5");
    assert_derived("bba4e5ed1a4c73835180def53e253f52", "74a07798e73dbd7bb122b0317fb232c5", 20000,
                   "cabe8724f04ccf9b957948330cab50a9071975d94e3eed477a5460b119b6b6f6");
}

TEST(parameters_are_written_and_signed_as_altcha_s_own_library_does)
{
    const struct altcha_parameters parameters = {
        .data = STR("{\"action\":\"coupon:C1\"}"),
        .expires_s = 4102444800,
        .key_prefix = STR("cabe8724f04ccf9b957948330cab50a9"),
        .key_signature = STR("80d905fbef37a87b5bc4edaf9b19c6ec431a9ea97a8ef8c9460ef68eff7a27fb"),
        .nonce = STR("74a07798e73dbd7bb122b0317fb232c5"),
        .salt = STR("bba4e5ed1a4c73835180def53e253f52"),
    };
    unsigned char key[SHA256_BYTES];
    char hex[ALTCHA_HEX_KEY + 1];
    struct buffer out;

    buffer_init(&out, ALTCHA_PARAMETERS_MAX);
    altcha_parameters_write(&out, &parameters);
    altcha_sign(STR("sig-secret"), buffer_text(&out), hex);
    assert_string_equal(hex, "94f9d83063991602041a78537e29d41c660d49ce6ea659f0784cfdf61d3119e5");
    buffer_free(&out);

    assert_true(hex_decode(STR("cabe8724f04ccf9b957948330cab50a9071975d94e3eed477a5460b119b6b6f6"),
                           key, sizeof(key)));
    altcha_sign(STR("key-secret"), str_sized((const char *)key, sizeof(key)), hex);
    assert_text(parameters.key_signature, hex);

    altcha_sign(STR("sig-secret"),
                STR("{\"algorithm\":\"SHA-256\",\"cost\":1,\"data\":{\"action\":\"coupon\","
                    "\"challengeId\":\"abc\"},\"expiresAt\":4102444800,\"keyLength\":32,"
                    "\"keyPrefix\":\"000\",\"nonce\":\"35cc4cae0f13120ca6f5d62e3dfb827b\","
                    "\"salt\":\"382855b4a5038e5e68f963c9f31bf2fe\"}"),
                hex);
    assert_string_equal(hex, "ae6d83f9f70ef3f595b61369b45720361992847ea0a28bbbf1b8e58b05d1ab76");
}

TEST(a_solved_challenge_is_accepted_and_names_itself)
{
    struct solved solved = challenge_of(keys);
    struct str nonce;

    assert_in_range(solved.counter, ALTCHA_COUNTER_MIN, ALTCHA_COUNTER_MAX);
    assert_contains(solved.challenge, "\"expiresAt\":1800000300,");
    assert_contains(solved.challenge, "\"event\":\"drop-1\",\"kid\":\"a\"");
    assert_lacks(solved.challenge, "m-1");
    assert_int_equal(
        altcha_verify(keys, arena, &SUBJECT, str_of(base64(payload(&solved))), NOW_MS, &nonce),
        ALTCHA_SOLVED);
    assert_true(str_equal(nonce, piece(solved.challenge, "\"nonce\":\"")));
    struct solved other = challenge_of(keys);
    assert_false(str_equal(nonce, piece(other.challenge, "\"nonce\":\"")));
    assert_string_not_equal(solved.derived_key, other.derived_key);
}

TEST(the_widget_s_own_order_and_its_time_are_accepted)
{
    struct solved solved = challenge_of(keys);
    const char *text = payload(&solved);

    assert_int_equal(verify(changed(text, "\"counter\"", "\"time\":151.3,\"counter\"")),
                     ALTCHA_SOLVED);
    assert_int_equal(verify(changed(text, "\"counter\"", "\"time\":151,\"counter\"")),
                     ALTCHA_SOLVED);
    text = changed(text, "{\"parameters\":{\"algorithm\":\"SHA-256\",\"cost\":1,",
                   "{ \"parameters\" : { \"cost\": 1, \"algorithm\": \"SHA-256\",\n");
    assert_int_equal(verify(text), ALTCHA_SOLVED);
}

TEST(it_counts_for_one_caller_at_one_event_only)
{
    struct solved solved = challenge_of(keys);
    const char *text = payload(&solved);

    assert_int_equal(
        verify_for(keys, (struct altcha_subject){.event = STR("drop-2"), .caller = SUBJECT.caller},
                   text, NOW_MS),
        ALTCHA_FOREIGN);
    assert_int_equal(
        verify_for(keys, (struct altcha_subject){.event = SUBJECT.event, .caller = STR("m-2")},
                   text, NOW_MS),
        ALTCHA_FOREIGN);
    assert_int_equal(verify(changed(text, "drop-1", "drop-2")), ALTCHA_FORGED);
}

TEST(it_counts_for_five_minutes)
{
    struct solved solved = challenge_of(keys);
    const char *text = payload(&solved);

    assert_int_equal(verify_for(keys, SUBJECT, text, INT64_C(1800000299999)), ALTCHA_SOLVED);
    assert_int_equal(verify_for(keys, SUBJECT, text, INT64_C(1800000300000)), ALTCHA_EXPIRED);
    assert_int_equal(verify(changed(text, "1800000300", "1800009300")), ALTCHA_FORGED);
}

TEST(no_character_of_it_may_be_changed)
{
    struct solved solved = challenge_of(keys);
    char *text = arena_copy(arena, str_of(payload(&solved)));

    for (size_t i = 0; text[i] != '\0'; i++) {
        char right = text[i];
        for (const char *c = "0aZ9 \"{"; *c != '\0'; c++) {
            text[i] = *c;
            if (*c != right && verify(text) == ALTCHA_SOLVED) {
                fail_msg("accepted: %s", text);
            }
        }
        text[i] = right;
    }
    assert_int_equal(verify(text), ALTCHA_SOLVED);
}

TEST(key_and_counter_must_both_be_right)
{
    struct solved solved = challenge_of(keys);
    struct solved other = challenge_of(keys);
    struct solved mixed = solved;

    mixed.counter++;
    assert_int_equal(verify(payload(&mixed)), ALTCHA_UNSOLVED);
    mixed = solved;
    mixed.derived_key = other.derived_key;
    assert_int_equal(verify(payload(&mixed)), ALTCHA_UNSOLVED);
    mixed = other;
    mixed.challenge = solved.challenge;
    assert_int_equal(verify(payload(&mixed)), ALTCHA_UNSOLVED);
    /* No work at all: some counter with the key that it gives. */
    struct solved lazy = derived_for(solved.challenge, 7);
    assert_int_equal(verify(payload(&lazy)), ALTCHA_UNSOLVED);
    char *half = arena_copy(arena, str_of(solved.derived_key));
    memset(half + 32, '0', 32);
    mixed = solved;
    mixed.derived_key = half;
    assert_int_equal(verify(payload(&mixed)), ALTCHA_UNSOLVED);
}

TEST(keys_are_changed_without_losing_those_who_work)
{
    char error[SECRET_ERROR];
    struct solved solved = challenge_of(keys);
    struct key_set *both =
        key_set_open(scratch_write("both", "b:" SECRET_B "\na:" SECRET_A "\n", 0600), error);
    struct key_set *later = key_set_open(scratch_write("later", "b:" SECRET_B "\n", 0600), error);
    struct key_set *stolen_name =
        key_set_open(scratch_write("stolen", "a:" SECRET_B "\n", 0600), error);

    assert_int_equal(verify_for(both, SUBJECT, payload(&solved), NOW_MS), ALTCHA_SOLVED);
    assert_int_equal(verify_for(later, SUBJECT, payload(&solved), NOW_MS), ALTCHA_FORGED);
    assert_int_equal(verify_for(stolen_name, SUBJECT, payload(&solved), NOW_MS), ALTCHA_FORGED);
    assert_int_equal(verify_for(both, SUBJECT,
                                changed(payload(&solved), "\"kid\":\"a\"", "\"kid\":\"b\""),
                                NOW_MS),
                     ALTCHA_FORGED);
    solved = challenge_of(both);
    assert_contains(solved.challenge, "\"kid\":\"b\"");
    assert_int_equal(verify_for(later, SUBJECT, payload(&solved), NOW_MS), ALTCHA_SOLVED);
    key_set_free(both);
    key_set_free(later);
    key_set_free(stolen_name);
}

TEST(what_is_no_answer_to_a_challenge_of_ours_is_refused)
{
    static const char *const REFUSED[] = {
        "",
        "{}",
        "[]",
        "null",
        "{\"challenge\":null,\"solution\":null,\"test\":true}",
        "{\"challenge\":{},\"solution\":{}}",
        "{\"algorithm\":\"SHA-256\",\"challenge\":"
        "\"3eea62ff21c6975fd2b96225f6dcccbc89c32da69010531d00d2c8864680127c\",\"number\":123,"
        "\"salt\":\"00112233445566778899aabb?action=coupon&expires=4102444800&\",\"signature\":"
        "\"0ee7f8f11f2b8c1be15ac09c51fb0da0848f8f7ef5f57032e5c5d610841dc12f\",\"took\":1}",
    };
    /* From what to what a good payload is changed. */
    static const char *const CHANGES[][2] = {
        {"SHA-256", "PBKDF2/SHA-256"},
        {"SHA-256", "sha-256"},
        {"\"cost\":1", "\"cost\":2"},
        {"\"cost\":1", "\"cost\":\"1\""},
        {"\"cost\":1", "\"cost\":1.0"},
        {"\"keyLength\":32", "\"keyLength\":16"},
        {"\"keySignature\":\"", "\"keySignature\":\"0"},
        {"\"keySignature\"", "\"keySignature2\""},
        {"\"action\":\"coupon\"", "\"action\":\"order\""},
        {"\"action\":\"coupon\"", "\"action\":\"coupon\",\"more\":1"},
        {"\"event\":\"drop-1\"", "\"event\":\"Drop-1\""},
        {"\"event\":\"drop-1\"", "\"event\":\"drop-1\\\"\""},
        {"\"event\":\"drop-1\"", "\"event\":\"drop-1\\u0000\""},
        {"\"event\":\"drop-1\"", "\"event\":7"},
        {"\"kid\":\"a\"", "\"kid\":\"\""},
        {"\"kid\":\"a\"", "\"kid\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\""},
        {"\"subject\":\"", "\"subject\":\"A"},
        {"1800000300", "-1"},
        {"1800000300", "1e9"},
        {"1800000300", "99999999999999999999"},
        {"1800000300", "null"},
        {"\"counter\":", "\"counter\":-"},
        {"\"counter\":", "\"counter\":4294967296,\"old\":"},
        {"\"counter\":", "\"counter\":1.5,\"old\":"},
        {"\"counter\":", "\"counter\":\"1\",\"old\":"},
        {"\"derivedKey\":\"", "\"derivedKey\":\"AA"},
        {"\"derivedKey\":\"", "\"time\":\"1\",\"derivedKey\":\""},
        {"\"derivedKey\":\"", "\"time\":1,\"more\":1,\"derivedKey\":\""},
        {"\"solution\":{", "\"test\":true,\"solution\":{"},
        {"\"challenge\":{", "\"challenge\":{\"configuration\":{},"},
        {"\"signature\":\"", "\"signature\":null,\"s\":\""},
    };
    struct solved solved = challenge_of(keys);
    const char *good = payload(&solved);
    struct str nonce;

    for (size_t i = 0; i < COUNT(REFUSED); i++) {
        assert_int_equal(verify(REFUSED[i]), ALTCHA_MALFORMED);
    }
    for (size_t i = 0; i < COUNT(CHANGES); i++) {
        const char *text = changed(good, CHANGES[i][0], CHANGES[i][1]);
        if (verify(text) != ALTCHA_MALFORMED) {
            fail_msg("not refused as malformed: %s", text);
        }
    }
    assert_int_equal(verify(arena_format(arena, "%s x", good)), ALTCHA_MALFORMED);
    assert_int_equal(verify(arena_format(arena, "%s%2000s", good, "")), ALTCHA_MALFORMED);
    assert_int_equal(altcha_verify(keys, arena, &SUBJECT, str_of(good), NOW_MS, &nonce),
                     ALTCHA_MALFORMED);
    for (size_t length = 0; length < strlen(base64(good)); length++) {
        assert_int_not_equal(
            altcha_verify(keys, arena, &SUBJECT, str_sized(base64(good), length), NOW_MS, &nonce),
            ALTCHA_SOLVED);
    }
}

TEST(base64_is_taken_in_its_one_form)
{
    static const char *const REFUSED[] = {"e30",  "e30==",  "e30=e30=", "====", "=",
                                          "e3 0", "e30=\n", "-_8=",     "e31="};
    struct str nonce;

    for (size_t i = 0; i < COUNT(REFUSED); i++) {
        assert_int_equal(altcha_verify(keys, arena, &SUBJECT, str_of(REFUSED[i]), NOW_MS, &nonce),
                         ALTCHA_MALFORMED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_derived_as_altcha_s_own_library_does),
        cmocka_unit_test(parameters_are_written_and_signed_as_altcha_s_own_library_does),
        cmocka_unit_test(a_solved_challenge_is_accepted_and_names_itself),
        cmocka_unit_test(the_widget_s_own_order_and_its_time_are_accepted),
        cmocka_unit_test(it_counts_for_one_caller_at_one_event_only),
        cmocka_unit_test(it_counts_for_five_minutes),
        cmocka_unit_test(no_character_of_it_may_be_changed),
        cmocka_unit_test(key_and_counter_must_both_be_right),
        cmocka_unit_test(keys_are_changed_without_losing_those_who_work),
        cmocka_unit_test(what_is_no_answer_to_a_challenge_of_ours_is_refused),
        cmocka_unit_test(base64_is_taken_in_its_one_form),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
