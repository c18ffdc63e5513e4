#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/encoding.h"
#include "lib/identity/queue_ticket.h"
#include "tests/unit/scratch.h"
#include "tests/unit/token_maker.h"

#define SECRET "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define HEADER "{\"alg\":\"HS256\",\"kid\":\"k1\",\"typ\":\"queue-ticket+jwt\"}"
#define NOW_MS (1800000000 * INT64_C(1000))
#define CLAIMS                                                                                     \
    "{\"sub\":\"m-1\",\"queue\":\"sale\",\"epoch\":1,\"seq\":7,\"lane\":\"main\","                 \
    "\"queueSessionId\":0,\"inc\":2,\"iat\":1800000000,\"exp\":1800000060}"

static struct arena *arena;
static struct key_set *keys;

static const struct queue_ticket GOOD = {
    .subject = {"m-1", 3},
    .queue = {"sale", 4},
    .lane = {"main", 4},
    .epoch = 1,
    .seq = 7,
    .generation = 0,
    .incarnation = 2,
    .issued_at_s = 1800000000,
    .expires_at_s = 1800000060,
};

static int open_all(__attribute__((unused)) void **state)
{
    char error[SECRET_ERROR];
    const char *ring = maker_text("k1:%s\nold:%s\n", maker_base64url(SECRET),
                                  maker_base64url("BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"));

    arena = arena_new();
    keys = key_set_open(scratch_write("ring", ring, 0600), error);
    return keys == NULL ? -1 : 0;
}

static int close_all(__attribute__((unused)) void **state)
{
    key_set_free(keys);
    arena_free(arena);
    return 0;
}

static enum queue_ticket_outcome verify(const char *token, struct queue_ticket *ticket)
{
    return queue_ticket_verify(keys, str_of(token), STR("sale"), NOW_MS, arena, ticket);
}

TEST(a_ticket_is_the_jwt_that_anybody_would_make_of_its_claims)
{
    char text[QUEUE_TICKET_TEXT + 1];

    size_t length = queue_ticket_sign(keys, &GOOD, text);
    assert_int_equal(length, strlen(text));
    assert_string_equal(text, maker_token_hs256(STR(SECRET), HEADER, CLAIMS));
}

TEST(what_was_signed_is_read_again_up_to_the_bounds_of_every_claim)
{
    const struct queue_ticket tickets[] = {
        GOOD,
        {.subject = STR("0123456789012345678901234567890123456789012345678901234567890123"),
         .queue = STR("q23456789012345678901234567890123456789012345678901234567890123"),
         .lane = STR("l2345678901234567890123456789012"),
         .epoch = QUEUE_TICKET_EPOCH_MAX,
         .seq = QUEUE_TICKET_SEQ_MAX,
         .generation = QUEUE_TICKET_GENERATION_MAX,
         .incarnation = QUEUE_TICKET_EPOCH_MAX,
         .issued_at_s = 253402300799,
         .expires_at_s = 253402300799},
        {.subject = STR("v~AAAAAAAAAAAAAAAAAAAAAA"),
         .queue = STR("q"),
         .lane = STR("l"),
         .epoch = 1,
         .seq = 1,
         .incarnation = 1,
         .issued_at_s = 0,
         .expires_at_s = 1800000001},
    };

    for (size_t i = 0; i < COUNT(tickets); i++) {
        const struct queue_ticket *in = &tickets[i];
        char text[QUEUE_TICKET_TEXT + 1];
        struct queue_ticket out;
        size_t length = queue_ticket_sign(keys, in, text);
        assert_true(length > 0);
        assert_int_equal(
            queue_ticket_verify(keys, str_sized(text, length), in->queue, NOW_MS, arena, &out),
            QUEUE_TICKET_VALID);
        memset(text, 'x', sizeof(text)); /* nothing of it is borrowed */
        assert_true(str_equal(out.subject, in->subject));
        assert_true(str_equal(out.queue, in->queue));
        assert_true(str_equal(out.lane, in->lane));
        assert_int_equal(out.epoch, in->epoch);
        assert_int_equal(out.seq, in->seq);
        assert_int_equal(out.generation, in->generation);
        assert_int_equal(out.incarnation, in->incarnation);
        assert_int_equal(out.issued_at_s, in->issued_at_s);
        assert_int_equal(out.expires_at_s, in->expires_at_s);
    }
}

TEST(claims_out_of_range_are_not_signed)
{
    struct queue_ticket bad[14];
    size_t n = 0;
    char text[QUEUE_TICKET_TEXT + 1];

    for (size_t i = 0; i < COUNT(bad); i++) {
        bad[i] = GOOD;
    }
    bad[n++].subject = STR("");
    bad[n++].subject = STR("a\"b");
    bad[n++].subject = STR("v~short");
    bad[n++].queue = STR("Sale");
    bad[n++].lane = STR("");
    bad[n++].lane = STR("l23456789012345678901234567890123");
    bad[n++].epoch = 0;
    bad[n++].epoch = QUEUE_TICKET_EPOCH_MAX + 1;
    bad[n++].seq = 0;
    bad[n++].seq = QUEUE_TICKET_SEQ_MAX + 1;
    bad[n++].generation = -1;
    bad[n++].generation = 4096;
    bad[n++].incarnation = 0;
    bad[n++].expires_at_s = -1;
    assert_int_equal(n, COUNT(bad));
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(queue_ticket_sign(keys, &bad[i], text), 0);
    }
}

TEST(a_ticket_holds_for_its_queue_and_until_it_expires)
{
    char text[QUEUE_TICKET_TEXT + 1];
    struct queue_ticket ticket;

    struct str token = str_sized(text, queue_ticket_sign(keys, &GOOD, text));
    assert_int_equal(queue_ticket_verify(keys, token, STR("other"), NOW_MS, arena, &ticket),
                     QUEUE_TICKET_OTHER_QUEUE);
    assert_int_equal(queue_ticket_verify(keys, token, STR("sale"), NOW_MS + 59999, arena, &ticket),
                     QUEUE_TICKET_VALID);
    assert_int_equal(queue_ticket_verify(keys, token, STR("sale"), NOW_MS + 60000, arena, &ticket),
                     QUEUE_TICKET_EXPIRED);
    assert_string_equal(queue_ticket_reason(QUEUE_TICKET_EXPIRED), "the queue ticket has expired");
}

TEST(a_ticket_of_an_older_key_in_the_ring_goes_on)
{
    struct queue_ticket ticket;
    const char *header = "{\"alg\":\"HS256\",\"kid\":\"old\",\"typ\":\"queue-ticket+jwt\"}";

    assert_int_equal(
        verify(maker_token_hs256(STR("BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"), header, CLAIMS), &ticket),
        QUEUE_TICKET_VALID);
    assert_int_equal(verify(maker_token_hs256(STR(SECRET), header, CLAIMS), &ticket),
                     QUEUE_TICKET_BAD_SIGNATURE);
}

TEST(headers_other_than_our_own_are_refused)
{
    static const struct {
        const char *header;
        enum queue_ticket_outcome outcome;
    } CASES[] = {
        {"{\"alg\":\"none\",\"kid\":\"k1\",\"typ\":\"queue-ticket+jwt\"}", QUEUE_TICKET_MALFORMED},
        {"{\"alg\":\"HS256\",\"kid\":\"k1\",\"typ\":\"JWT\"}", QUEUE_TICKET_MALFORMED},
        {"{\"alg\":\"HS256\",\"kid\":\"k1\"}", QUEUE_TICKET_MALFORMED},
        {"{\"alg\":\"HS256\",\"typ\":\"queue-ticket+jwt\"}", QUEUE_TICKET_MALFORMED},
        {"{\"kid\":\"k1\",\"alg\":\"HS256\",\"typ\":\"queue-ticket+jwt\"}", QUEUE_TICKET_MALFORMED},
        {" " HEADER, QUEUE_TICKET_MALFORMED},
        {HEADER " ", QUEUE_TICKET_MALFORMED},
        {"", QUEUE_TICKET_MALFORMED},
        {"{}", QUEUE_TICKET_MALFORMED},
        {"{\"alg\":\"HS256\",\"kid\":\"\",\"typ\":\"queue-ticket+jwt\"}", QUEUE_TICKET_UNKNOWN_KEY},
        {"{\"alg\":\"HS256\",\"kid\":\"K1\",\"typ\":\"queue-ticket+jwt\"}",
         QUEUE_TICKET_UNKNOWN_KEY},
        {"{\"alg\":\"HS256\",\"kid\":\"../k1\",\"typ\":\"queue-ticket+jwt\"}",
         QUEUE_TICKET_UNKNOWN_KEY},
        {"{\"alg\":\"HS256\",\"kid\":\"k1\",\"crit\":[],\"typ\":\"queue-ticket+jwt\"}",
         QUEUE_TICKET_MALFORMED},
        /* Start and end overlap: the kid would have a negative length. */
        {"{\"alg\":\"HS256\",\"kid\":\"typ\":\"queue-ticket+jwt\"}", QUEUE_TICKET_MALFORMED},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct queue_ticket ticket;
        enum queue_ticket_outcome outcome =
            verify(maker_token_hs256(STR(SECRET), CASES[i].header, CLAIMS), &ticket);
        if (outcome != CASES[i].outcome) {
            fail_msg("%s: %s", CASES[i].header, queue_ticket_reason(outcome));
        }
    }
}

TEST(claims_in_another_form_are_refused_though_signed)
{
    static const char *const REFUSED[] = {
        "",
        "{}",
        "{\"sub\":\"m-1\"}",
        CLAIMS " ",
        " " CLAIMS,
        CLAIMS "}",
        "{\"sub\":\"m-1\",\"queue\":\"sale\",\"epoch\":1,\"seq\":7,\"lane\":\"main\","
        "\"queueSessionId\":0,\"inc\":2,\"iat\":1800000000,\"exp\":1800000060",
        "{\"sub\":\"m-1\",\"queue\":\"sale\",\"epoch\":-1,\"seq\":7,\"lane\":\"main\","
        "\"queueSessionId\":0,\"inc\":2,\"iat\":1800000000,\"exp\":1800000060}",
        "{\"sub\":\"m-1\",\"queue\":\"sale\",\"epoch\":1,\"seq\":,\"lane\":\"main\","
        "\"queueSessionId\":0,\"inc\":2,\"iat\":1800000000,\"exp\":1800000060}",
        "{\"sub\":\"m-1\",\"queue\":\"sale\",\"epoch\":1,\"seq\":99999999999999999999,"
        "\"lane\":\"main\",\"queueSessionId\":0,\"inc\":2,\"iat\":1800000000,\"exp\":1800000060}",
        "{\"sub\":\"m-1\",\"queue\":\"sale\",\"epoch\":1,\"seq\":7,\"lane\":\"main\","
        "\"queueSessionId\":4096,\"inc\":2,\"iat\":1800000000,\"exp\":1800000060}",
        "{\"sub\":\"m\\\"1\",\"queue\":\"sale\",\"epoch\":1,\"seq\":7,\"lane\":\"main\","
        "\"queueSessionId\":0,\"inc\":2,\"iat\":1800000000,\"exp\":1800000060}",
        "{\"sub\":\"m-1",
    };

    for (size_t i = 0; i < COUNT(REFUSED); i++) {
        struct queue_ticket ticket;
        if (verify(maker_token_hs256(STR(SECRET), HEADER, REFUSED[i]), &ticket) !=
            QUEUE_TICKET_MALFORMED) {
            fail_msg("'%s'", REFUSED[i]);
        }
    }
}

TEST(a_ticket_that_is_cut_off_changed_or_extended_is_refused)
{
    char text[QUEUE_TICKET_TEXT + 1];
    struct queue_ticket ticket;
    size_t length = queue_ticket_sign(keys, &GOOD, text);

    for (size_t n = 0; n < length; n++) {
        char *cut = strndup(text, n); /* of its own, so that a read too far is found */
        assert_int_not_equal(
            queue_ticket_verify(keys, str_sized(cut, n), STR("sale"), NOW_MS, arena, &ticket),
            QUEUE_TICKET_VALID);
        free(cut);
        char right = text[n];
        for (const char *c = "Ab9-_.=\n"; *c != '\0'; c++) {
            text[n] = *c;
            bool valid = verify(text, &ticket) == QUEUE_TICKET_VALID;
            assert_int_equal(valid, *c == right);
        }
        text[n] = right;
    }
    assert_int_not_equal(verify(maker_text("%sA", text), &ticket), QUEUE_TICKET_VALID);
    assert_int_not_equal(verify(maker_text("%s.", text), &ticket), QUEUE_TICKET_VALID);
    assert_int_not_equal(verify(maker_text("%s=", text), &ticket), QUEUE_TICKET_VALID);
    assert_int_not_equal(verify(maker_text("%2000s", text), &ticket), QUEUE_TICKET_VALID);
}

TEST(a_members_own_token_is_no_queue_ticket)
{
    struct queue_ticket ticket;

    assert_int_equal(
        verify(maker_token_hs256(STR(SECRET), "{\"alg\":\"HS256\",\"typ\":\"JWT\"}", CLAIMS),
               &ticket),
        QUEUE_TICKET_MALFORMED);
    assert_int_equal(verify("", &ticket), QUEUE_TICKET_MALFORMED);
    assert_int_equal(verify("..", &ticket), QUEUE_TICKET_MALFORMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ticket_is_the_jwt_that_anybody_would_make_of_its_claims),
        cmocka_unit_test(what_was_signed_is_read_again_up_to_the_bounds_of_every_claim),
        cmocka_unit_test(claims_out_of_range_are_not_signed),
        cmocka_unit_test(a_ticket_holds_for_its_queue_and_until_it_expires),
        cmocka_unit_test(a_ticket_of_an_older_key_in_the_ring_goes_on),
        cmocka_unit_test(headers_other_than_our_own_are_refused),
        cmocka_unit_test(claims_in_another_form_are_refused_though_signed),
        cmocka_unit_test(a_ticket_that_is_cut_off_changed_or_extended_is_refused),
        cmocka_unit_test(a_members_own_token_is_no_queue_ticket),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
