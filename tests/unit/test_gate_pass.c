/*
 * gate_pass: only what was signed here, for this queue and purpose and in this form, is a pass.
 */
#include "tests/unit/unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/digest.h"
#include "lib/base/encoding.h"
#include "lib/base/random.h"
#include "lib/identity/gate_pass.h"
#include "lib/identity/queue_ticket.h"
#include "tests/unit/scratch.h"
#include "tests/unit/token_maker.h"

#define SECRET    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define SECRET_2  "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"
#define ADMISSION "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define NUMBERS   "3.2.41.7.1800000000000.1800000300000"
#define FIELDS    "a.shop." NUMBERS "." ADMISSION ".m-1"
#define TEXT      "v1.k1." FIELDS

static struct key_set *keys;

static const struct gate_pass PASS = {
    .queue = {.p = "shop", .n = 4},
    .subject = {.p = "m-1", .n = 3},
    .admission = {.p = ADMISSION, .n = sizeof(ADMISSION) - 1},
    .epoch = 3,
    .incarnation = 2,
    .seq = 41,
    .generation = 7,
    .renewed_ms = 1800000000000,
    .ends_ms = 1800000300000,
    .kind = GATE_PASS_ADMITTED,
};

/* Each in a file of its own: key sets read theirs again when it changes. */
static struct key_set *ring(const char *lines)
{
    static int rings = 0;
    char error[SECRET_ERROR];
    char name[16];

    (void)snprintf(name, sizeof(name), "ring-%d", rings++);
    struct key_set *opened = key_set_open(scratch_write(name, lines, 0600), error);

    assert_non_null(opened);
    return opened;
}

static int open_all(__attribute__((unused)) void **state)
{
    keys = ring(maker_text("k1:%s\n", maker_base64url(SECRET)));
    return 0;
}

static int close_all(__attribute__((unused)) void **state)
{
    key_set_free(keys);
    return 0;
}

/* Verifies a copy of exactly that length, so that a read too far is found. */
static enum gate_pass_outcome verify(const char *value, size_t length)
{
    struct gate_pass pass = {.seq = -1};
    char *copy = malloc(length + 1);

    assert_non_null(copy);
    memcpy(copy, value, length);
    char *tight = realloc(copy, length == 0 ? 1 : length);
    assert_non_null(tight);
    enum gate_pass_outcome outcome =
        gate_pass_verify(keys, str_sized(tight, length), STR("shop"), &pass);
    /* Filled for a valid one only. */
    assert_int_equal(pass.seq == -1, outcome != GATE_PASS_VALID);
    free(tight);
    return outcome;
}

static enum gate_pass_outcome verify_text(const char *value)
{
    return verify(value, strlen(value));
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
    return signed_as("sluice gate pass\n", text);
}

static void assert_same_pass(const struct gate_pass *a, const struct gate_pass *b)
{
    assert_true(str_equal(a->queue, b->queue));
    assert_true(str_equal(a->subject, b->subject));
    assert_true(str_equal(a->admission, b->admission));
    assert_int_equal(a->epoch, b->epoch);
    assert_int_equal(a->incarnation, b->incarnation);
    assert_int_equal(a->seq, b->seq);
    assert_int_equal(a->generation, b->generation);
    assert_int_equal(a->renewed_ms, b->renewed_ms);
    assert_int_equal(a->ends_ms, b->ends_ms);
    assert_int_equal(a->kind, b->kind);
}

static void assert_comes_back(struct key_set *ring_used, const struct gate_pass *pass)
{
    char value[GATE_PASS_TEXT + 1];
    struct gate_pass read;

    size_t length = gate_pass_make(ring_used, pass, value);
    assert_int_equal(length, strlen(value));
    assert_true(length > 0 && length <= GATE_PASS_TEXT);
    assert_int_equal(gate_pass_verify(ring_used, str_sized(value, length), pass->queue, &read),
                     GATE_PASS_VALID);
    assert_same_pass(&read, pass);
}

TEST(a_pass_is_written_in_its_one_form_and_read_again)
{
    char value[GATE_PASS_TEXT + 1];

    assert_comes_back(keys, &PASS);
    assert_int_equal(gate_pass_make(keys, &PASS, value), strlen(TEXT) + 1 + SHA256_TEXT);
    assert_string_equal(value, signed_here(TEXT));
}

TEST(every_subject_comes_back_as_it_was)
{
    static const char *const SUBJECTS[] = {
        "m",
        "m.1",
        ".",
        "..",
        ".m.",
        "a:b_c-d.e",
        "1.2.3",
        "v~AAAAAAAAAAAAAAAAAAAAAA",
        "v~_-AAAAAAAAAAAAAAAAAAAA",
        "0123456789012345678901234567890123456789012345678901234567890123",
        ADMISSION "." ADMISSION,
    };

    for (size_t i = 0; i + 1 < COUNT(SUBJECTS); i++) {
        struct gate_pass pass = PASS;
        pass.subject = str_of(SUBJECTS[i]);
        assert_comes_back(keys, &pass);
    }
    /* What looks like more fields is a subject that is too long. */
    assert_int_equal(verify_text(signed_here(maker_text("v1.k1.a.shop." NUMBERS "." ADMISSION ".%s",
                                                        SUBJECTS[COUNT(SUBJECTS) - 1]))),
                     GATE_PASS_MALFORMED);
}

TEST(the_longest_pass_fits_exactly_and_is_fit_for_a_cookie)
{
    struct key_set *others =
        ring(maker_text("k2345678901234567890123456789012:%s\n", maker_base64url(SECRET)));
    char value[GATE_PASS_TEXT + 1];
    struct gate_pass pass = {
        .queue = STR("q23456789-123456789-123456789-123456789-123456789-123456789-123"),
        .subject = STR("m.3456789:123456789_123456789-123456789.123456789.123456789.1234"),
        .admission = PASS.admission,
        .epoch = QUEUE_TICKET_EPOCH_MAX,
        .incarnation = QUEUE_TICKET_EPOCH_MAX,
        .seq = QUEUE_TICKET_SEQ_MAX,
        .generation = QUEUE_TICKET_GENERATION_MAX,
        .renewed_ms = 253402300799999,
        .ends_ms = 253402300799999,
        .kind = GATE_PASS_ADMITTED,
    };

    assert_comes_back(others, &pass);
    assert_int_equal(gate_pass_make(others, &pass, value), GATE_PASS_TEXT);
    for (const char *c = value; *c != '\0'; c++) {
        assert_true(*c > ' ' && *c < 0x7f && strchr("\",;\\", *c) == NULL);
    }
    key_set_free(others);
}

TEST(only_a_watched_pass_may_lack_a_place)
{
    struct gate_pass pass = {.queue = PASS.queue, .subject = PASS.subject, .kind = 'w'};
    char value[GATE_PASS_TEXT + 1];

    assert_comes_back(keys, &pass);
    pass.kind = GATE_PASS_ADMITTED;
    assert_int_equal(gate_pass_make(keys, &pass, value), 0);
    assert_int_equal(verify_text(signed_here("v1.k1.w.shop.0.0.0.0.0.0..m")), GATE_PASS_VALID);
    assert_int_equal(verify_text(signed_here("v1.k1.a.shop.0.0.0.0.0.0..m")), GATE_PASS_MALFORMED);
    assert_int_equal(verify_text(signed_here("v1.k1.u.shop.1.1.1.0.0.0..m")), GATE_PASS_MALFORMED);
}

TEST(what_is_out_of_range_is_not_signed)
{
    char value[GATE_PASS_TEXT + 1];
    struct gate_pass bad[] = {PASS, PASS, PASS, PASS, PASS, PASS, PASS, PASS, PASS,
                              PASS, PASS, PASS, PASS, PASS, PASS, PASS, PASS, PASS};
    size_t n = 0;

    bad[n++].queue = STR("");
    bad[n++].queue = STR("Shop");
    bad[n++].queue = STR("a.b");
    bad[n++].subject = STR("");
    bad[n++].subject = STR("a b");
    bad[n++].subject = STR("v~short");
    bad[n++].admission = STR("");
    bad[n++].admission = STR("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.");
    bad[n++].epoch = 0;
    bad[n++].epoch = QUEUE_TICKET_EPOCH_MAX + 1;
    bad[n++].incarnation = 0;
    bad[n++].seq = -1;
    bad[n++].seq = QUEUE_TICKET_SEQ_MAX + 1;
    bad[n++].generation = -1;
    bad[n++].generation = QUEUE_TICKET_GENERATION_MAX + 1;
    bad[n++].renewed_ms = -1;
    bad[n++].ends_ms = 253402300800000;
    bad[n++].kind = 'x';
    assert_int_equal(n, COUNT(bad));
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(gate_pass_make(keys, &bad[i], value), 0);
    }
}

TEST(any_other_form_is_refused_even_where_the_mac_is_right)
{
    static const char *const REFUSED[] = {
        "v1",
        "v1.k1",
        "v1.k1.",
        "v2.k1." FIELDS,
        "V1.k1." FIELDS,
        " v1.k1." FIELDS,
        "v1.k1." FIELDS " ",
        "v1.k1..shop." NUMBERS "." ADMISSION ".m-1",
        "v1.k1.x.shop." NUMBERS "." ADMISSION ".m-1",
        "v1.k1.A.shop." NUMBERS "." ADMISSION ".m-1",
        "v1.k1.aa.shop." NUMBERS "." ADMISSION ".m-1",
        "v1.k1.a.." NUMBERS "." ADMISSION ".m-1",
        "v1.k1.a.Shop." NUMBERS "." ADMISSION ".m-1",
        "v1.k1.a.shop." NUMBERS "." ADMISSION,
        "v1.k1.a.shop." NUMBERS "." ADMISSION ".",
        "v1.k1.a.shop." NUMBERS "." ADMISSION "..m~1",
        "v1.k1.a.shop." NUMBERS "." ADMISSION ".v~short",
        "v1.k1.a.shop." NUMBERS "." ADMISSION "A.m-1",
        "v1.k1.a.shop." NUMBERS "..m-1",
        "v1.k1.a.shop." NUMBERS ".AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB.m-1",
        "v1.k1.a.shop." NUMBERS ".AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=.m-1",
        "v1.k1.a.shop.3.2.41.7.1800000000000." ADMISSION ".m-1",
        "v1.k1.a.shop.1." NUMBERS "." ADMISSION ".m-1",
        "v1.k1.a.shop.03.2.41.7.1800000000000.1800000300000." ADMISSION ".m-1",
        "v1.k1.a.shop.+3.2.41.7.1800000000000.1800000300000." ADMISSION ".m-1",
        "v1.k1.a.shop. 3.2.41.7.1800000000000.1800000300000." ADMISSION ".m-1",
        "v1.k1.a.shop.0.2.41.7.1800000000000.1800000300000." ADMISSION ".m-1",
        "v1.k1.a.shop.-3.2.41.7.1800000000000.1800000300000." ADMISSION ".m-1",
        "v1.k1.a.shop.3.0.41.7.1800000000000.1800000300000." ADMISSION ".m-1",
        "v1.k1.a.shop.3.2.-1.7.1800000000000.1800000300000." ADMISSION ".m-1",
        "v1.k1.a.shop.3.2..7.1800000000000.1800000300000." ADMISSION ".m-1",
        "v1.k1.a.shop.3.2.0x29.7.1800000000000.1800000300000." ADMISSION ".m-1",
        "v1.k1.a.shop.3.2.2199023255553.7.1800000000000.1800000300000." ADMISSION ".m-1",
        "v1.k1.a.shop.2147483649.2.41.7.1800000000000.1800000300000." ADMISSION ".m-1",
        "v1.k1.a.shop.99999999999999999999.2.41.7.1.1." ADMISSION ".m-1",
        "v1.k1.a.shop.3.2.41.4096.1800000000000.1800000300000." ADMISSION ".m-1",
        "v1.k1.a.shop.3.2.41.00.1800000000000.1800000300000." ADMISSION ".m-1",
        "v1.k1.a.shop.3.2.41.-0.1800000000000.1800000300000." ADMISSION ".m-1",
        "v1.k1.a.shop.3.2.41.7.-1.1800000300000." ADMISSION ".m-1",
        "v1.k1.a.shop.3.2.41.7.1800000000000.253402300800000." ADMISSION ".m-1",
        "v1.k1.a.shop.3.2.41.7.1800000000000.1.8e12." ADMISSION ".m-1",
    };

    assert_int_equal(verify_text(signed_here(TEXT)), GATE_PASS_VALID);
    for (size_t i = 0; i < COUNT(REFUSED); i++) {
        enum gate_pass_outcome outcome = verify_text(signed_here(REFUSED[i]));
        if (outcome != GATE_PASS_MALFORMED) {
            fail_msg("'%s' gave %d", REFUSED[i], outcome);
        }
    }
    assert_int_equal(verify_text(""), GATE_PASS_ABSENT);
    assert_int_equal(verify_text(maker_text("%328s", signed_here(TEXT))), GATE_PASS_MALFORMED);
}

TEST(a_mac_for_another_purpose_or_text_does_not_fit)
{
    static const char *const PURPOSES[] = {"", "sluice visitor cookie\n", "sluice gate pass",
                                           "sluice gate pass\nv1"};

    for (size_t i = 0; i < COUNT(PURPOSES); i++) {
        assert_int_equal(verify_text(signed_as(PURPOSES[i], TEXT)), GATE_PASS_FORGED);
    }
    assert_int_equal(verify_text(TEXT ".AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
                     GATE_PASS_FORGED);
    assert_int_equal(verify_text(TEXT "."), GATE_PASS_FORGED);
    assert_int_equal(verify_text(TEXT), GATE_PASS_FORGED);
    /* Moving characters from one field to the next is a change too. */
    const char *mac = signed_here(TEXT) + strlen(TEXT);
    assert_int_equal(verify_text(maker_text("v1.k1.a.shop.32..41.7.1800000000000.1800000300000"
                                            "." ADMISSION ".m-1%s",
                                            mac)),
                     GATE_PASS_FORGED);
}

TEST(a_pass_for_another_queue_is_distinguished)
{
    struct gate_pass pass;
    struct str value = str_of(signed_here(TEXT));

    assert_int_equal(gate_pass_verify(keys, value, STR("sho"), &pass), GATE_PASS_OTHER_QUEUE);
    assert_int_equal(gate_pass_verify(keys, value, STR("shop2"), &pass), GATE_PASS_OTHER_QUEUE);
    assert_int_equal(gate_pass_verify(keys, value, STR(""), &pass), GATE_PASS_OTHER_QUEUE);
    /* Forged comes first: nobody learns anything of a queue by it. */
    assert_int_equal(verify_text("v1.k1.a.other." NUMBERS "." ADMISSION ".m-1." ADMISSION),
                     GATE_PASS_FORGED);
}

TEST(keys_are_rotated_without_losing_anyone)
{
    const char *one = maker_base64url(SECRET);
    const char *two = maker_base64url(SECRET_2);
    struct key_set *added = ring(maker_text("k1:%s\nk2:%s\n", one, two));
    struct key_set *moved = ring(maker_text("k2:%s\nk1:%s\n", two, one));
    struct key_set *dropped = ring(maker_text("k2:%s\n", two));
    struct key_set *reused = ring(maker_text("k1:%s\n", two));
    char old[GATE_PASS_TEXT + 1];
    char new[GATE_PASS_TEXT + 1];
    struct gate_pass pass;

    assert_true(gate_pass_make(added, &PASS, old) > 0);
    assert_true(gate_pass_make(moved, &PASS, new) > 0);
    assert_int_equal(strncmp(old, "v1.k1.", 6), 0);
    assert_int_equal(strncmp(new, "v1.k2.", 6), 0);
    assert_int_equal(gate_pass_verify(added, str_of(new), PASS.queue, &pass), GATE_PASS_VALID);
    assert_int_equal(gate_pass_verify(moved, str_of(old), PASS.queue, &pass), GATE_PASS_VALID);
    assert_int_equal(gate_pass_verify(dropped, str_of(new), PASS.queue, &pass), GATE_PASS_VALID);
    assert_int_equal(gate_pass_verify(dropped, str_of(old), PASS.queue, &pass),
                     GATE_PASS_UNKNOWN_KEY);
    assert_int_equal(gate_pass_verify(reused, str_of(old), PASS.queue, &pass), GATE_PASS_FORGED);
    /* The MAC covers the name of the key. */
    old[4] = '2';
    assert_int_equal(gate_pass_verify(added, str_of(old), PASS.queue, &pass), GATE_PASS_FORGED);
    key_set_free(added);
    key_set_free(moved);
    key_set_free(dropped);
    key_set_free(reused);
}

TEST(every_changed_missing_or_added_byte_makes_a_pass_invalid)
{
    char value[GATE_PASS_TEXT + 1];
    size_t length = gate_pass_make(keys, &PASS, value);

    for (size_t n = 0; n < length; n++) {
        assert_int_not_equal(verify(value, n), GATE_PASS_VALID);
        char right = value[n];
        for (int c = 0; c < 256; c++) {
            value[n] = (char)c;
            assert_int_equal(verify(value, length) == GATE_PASS_VALID, value[n] == right);
        }
        value[n] = right;
    }
    for (size_t n = 0; n <= length; n++) {
        const char *grown = maker_text("%.*sA%s", (int)n, value, value + n);
        assert_int_not_equal(verify_text(grown), GATE_PASS_VALID);
        grown = maker_text("%.*s.%s", (int)n, value, value + n);
        assert_int_not_equal(verify_text(grown), GATE_PASS_VALID);
    }
}

TEST(no_bytes_whatever_are_taken_for_a_pass)
{
    static const char ALPHABET[] = ".....v1k0987654321-aw~_:";
    char bytes[GATE_PASS_TEXT + 8];

    for (int round = 0; round < 20000; round++) {
        size_t length = random_below(sizeof(bytes));
        random_bytes(bytes, length);
        /* Half of the rounds come near the form, with a key that is known. */
        for (size_t i = 0; round % 2 == 0 && i < length; i++) {
            bytes[i] = ALPHABET[(unsigned char)bytes[i] % (sizeof(ALPHABET) - 1)];
        }
        if (round % 4 == 0 && length > 6) {
            memcpy(bytes, "v1.k1.", 6);
        }
        assert_int_not_equal(verify(bytes, length), GATE_PASS_VALID);
    }
}

TEST(rightly_signed_bytes_whatever_are_read_without_harm)
{
    static const char ALPHABET[] = "......0123456789aw";
    char text[200];

    for (int round = 0; round < 2000; round++) {
        size_t length = 6 + random_below(sizeof(text) - 7);
        random_bytes(text, length);
        for (size_t i = 0; i < length; i++) {
            text[i] = ALPHABET[(unsigned char)text[i] % (sizeof(ALPHABET) - 1)];
        }
        text[length] = '\0';
        memcpy(text, "v1.k1.", 6);
        assert_int_equal(verify_text(signed_here(text)), GATE_PASS_MALFORMED);
    }
}

TEST(each_outcome_has_its_reason)
{
    for (int outcome = GATE_PASS_VALID; outcome <= GATE_PASS_OTHER_QUEUE; outcome++) {
        assert_contains(gate_pass_reason((enum gate_pass_outcome)outcome), "gate pass");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pass_is_written_in_its_one_form_and_read_again),
        cmocka_unit_test(every_subject_comes_back_as_it_was),
        cmocka_unit_test(the_longest_pass_fits_exactly_and_is_fit_for_a_cookie),
        cmocka_unit_test(only_a_watched_pass_may_lack_a_place),
        cmocka_unit_test(what_is_out_of_range_is_not_signed),
        cmocka_unit_test(any_other_form_is_refused_even_where_the_mac_is_right),
        cmocka_unit_test(a_mac_for_another_purpose_or_text_does_not_fit),
        cmocka_unit_test(a_pass_for_another_queue_is_distinguished),
        cmocka_unit_test(keys_are_rotated_without_losing_anyone),
        cmocka_unit_test(every_changed_missing_or_added_byte_makes_a_pass_invalid),
        cmocka_unit_test(no_bytes_whatever_are_taken_for_a_pass),
        cmocka_unit_test(rightly_signed_bytes_whatever_are_read_without_harm),
        cmocka_unit_test(each_outcome_has_its_reason),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
