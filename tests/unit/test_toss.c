#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/payments/payment_adapter.h"
#include "lib/payments/toss_webhook.h"

#define KEY "tviva20240213121757MvuS8"
#define ID  "p_0123456789abcdefghijkl"

/* 2024-02-13T12:18:14+09:00 */
#define APPROVED_MS INT64_C(1707794294000)

static const struct payment_adapter *const TOSS = &toss_adapter;
static const struct payment_shop SHOP = {.cid = {"", 0}};
static const struct payment_subject SUBJECT = {
    .id = {ID, sizeof(ID) - 1},
    .payer = {"member-1", 8},
    .ref = {KEY, sizeof(KEY) - 1},
    .money = {.total = 1000, .tax_free = 0, .vat = 91},
    .currency = {"KRW", 3},
};
static struct arena *arena;

static int open_all(__attribute__((unused)) void **state)
{
    arena = arena_new();
    return 0;
}

static int close_all(__attribute__((unused)) void **state)
{
    arena_free(arena);
    return 0;
}

static struct payment_reply reply(long status, const char *body)
{
    return (struct payment_reply){.status = status, .body = str_of(body)};
}

static void call_init(struct payment_call *call)
{
    *call = (struct payment_call){.method = ""};
    buffer_init(&call->path, 1024);
    buffer_init(&call->body, 16384);
    buffer_init(&call->once, 300);
}

static void assert_call(struct payment_call *call, const char *method, const char *path,
                        const char *body)
{
    assert_string_equal(call->method, method);
    assert_text(buffer_text(&call->path), path);
    assert_text(buffer_text(&call->body), body);
    buffer_free(&call->path);
    buffer_free(&call->body);
}

TEST(calls_are_written_as_toss_documents_them)
{
    const struct payment_offer offer = {.item_name = STR("Mug"),
                                        .quantity = 1,
                                        .approve_url = STR("https://shop.example/a?state=s"),
                                        .cancel_url = STR("https://shop.example/c"),
                                        .fail_url = STR("https://shop.example/f")};
    const struct payment_money money = {.total = 400, .tax_free = 100, .vat = 27};
    struct payment_subject odd = SUBJECT;
    struct payment_call call;

    call_init(&call);
    TOSS->ask_ready(&SHOP, &SUBJECT, &offer, &call);
    assert_text(buffer_text(&call.once), ID);
    buffer_free(&call.once);
    assert_call(&call, "POST", "/v1/payments",
                "{\"method\":\"CARD\",\"amount\":1000,\"taxFreeAmount\":0,\"currency\":\"KRW\","
                "\"orderId\":\"" ID "\",\"orderName\":\"Mug\",\"successUrl\":"
                "\"https://shop.example/a?state=s\",\"failUrl\":\"https://shop.example/f\"}");
    call_init(&call);
    TOSS->ask_approve(&SHOP, &SUBJECT, &(struct payment_return){.amount = STR("1")}, 2, &call);
    assert_text(buffer_text(&call.once), ID "-confirm-2");
    buffer_free(&call.once);
    assert_call(&call, "POST", "/v1/payments/confirm",
                "{\"paymentKey\":\"" KEY "\",\"orderId\":\"" ID "\",\"amount\":1000}");
    odd.ref = STR("../a?b#c");
    call_init(&call);
    TOSS->ask_lookup(&SHOP, &odd, &call);
    assert_int_equal(call.once.length, 0);
    assert_call(&call, "GET", "/v1/payments/..%2Fa%3Fb%23c", "");
    call_init(&call);
    TOSS->ask_cancel(&SHOP, &SUBJECT, &money, 300, &call);
    assert_true(str_starts(buffer_text(&call.once), STR(ID "-cancel-300-")));
    buffer_free(&call.once);
    assert_call(&call, "POST", "/v1/payments/" KEY "/cancel",
                "{\"cancelReason\":\"order canceled\",\"cancelAmount\":400,\"taxFreeAmount\":100}");
}

TEST(the_key_goes_as_a_name_without_a_password)
{
    struct buffer header;

    buffer_init(&header, 256);
    TOSS->authorize(STR("test_sk_zXLkKEypNArWmo50nX3lmeaxYG5R"), &header);
    assert_text(buffer_text(&header), "Basic dGVzdF9za196WExrS0V5cE5BcldtbzUwblgzbG1lYXhZRzVSOg==");
    buffer_free(&header);
}

TEST(what_the_browser_brings_must_be_this_payment_and_this_amount)
{
    static const struct {
        const char *key;
        const char *id;
        const char *amount;
        bool good;
    } CASES[] = {
        {KEY, ID, "1000", true},      {KEY, ID, "100", false}, {KEY, ID, "01000", false},
        {KEY, ID, "1000.0", false},   {KEY, ID, "", false},    {KEY, "p_other", "1000", false},
        {"other", ID, "1000", false}, {"", ID, "1000", false}, {KEY, "", "1000", false},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        const struct payment_return back = {.payment_key = str_of(CASES[i].key),
                                            .order_id = str_of(CASES[i].id),
                                            .amount = str_of(CASES[i].amount)};
        assert_int_equal(TOSS->belongs(&SUBJECT, &back), CASES[i].good);
    }
}

static const char *payment(const char *status, const char *total, const char *balance)
{
    return arena_format(
        arena,
        "{\"mId\":\"tosspayments\",\"lastTransactionKey\":\"9C62B18EEF0DE3EB7F4422EB6D14BC6E\","
        "\"paymentKey\":\"" KEY "\",\"orderId\":\"" ID
        "\",\"orderName\":\"x\",\"currency\":\"KRW\","
        "\"method\":\"\xec\xb9\xb4\xeb\x93\x9c\",\"status\":\"%s\",\"requestedAt\":"
        "\"2024-02-13T12:17:57+09:00\",\"approvedAt\":\"2024-02-13T12:18:14+09:00\","
        "\"totalAmount\":%s,\"balanceAmount\":%s,\"suppliedAmount\":909,\"vat\":91,"
        "\"taxFreeAmount\":0,\"card\":{\"issuerCode\":\"71\"},\"cancels\":[{\"canceledAt\":"
        "\"2024-02-13T12:19:14+09:00\"},{\"canceledAt\":\"2024-02-13T12:18:44+09:00\"},7],"
        "\"checkout\":{\"url\":\"https://api.tosspayments.com/v1/payments/x/checkout\"},"
        "\"failure\":null}",
        status, total, balance);
}

static struct payment_verdict read_ready(const struct payment_reply *answer)
{
    const struct payment_offer offer = {.mobile = false};
    struct payment_session session;

    return TOSS->read_ready(arena, &SUBJECT, &offer, answer, &session);
}

static struct payment_verdict read_approve(const struct payment_reply *answer)
{
    struct payment_state found;

    return TOSS->read_approve(arena, &SUBJECT, answer, &found);
}

static struct payment_verdict read_lookup(const struct payment_reply *answer)
{
    struct payment_state found;

    return TOSS->read_lookup(arena, &SUBJECT, answer, &found);
}

static struct payment_verdict read_cancel(const struct payment_reply *answer)
{
    struct payment_state found;

    return TOSS->read_cancel(arena, &SUBJECT, answer, &found);
}

typedef struct payment_verdict (*reader)(const struct payment_reply *answer);
static const reader READERS[] = {read_ready, read_approve, read_lookup, read_cancel};

TEST(a_session_is_a_payment_with_a_page)
{
    const struct payment_offer offer = {.mobile = false};
    const struct payment_reply good = reply(200, payment("READY", "1000", "1000"));
    const struct payment_reply done = reply(200, payment("DONE", "1000", "1000"));
    const struct payment_reply more = reply(200, payment("READY", "1001", "1001"));
    struct payment_session session;

    assert_int_equal(TOSS->read_ready(arena, &SUBJECT, &offer, &good, &session).outcome,
                     PAYMENT_OK);
    assert_text(session.ref, KEY);
    assert_text(session.redirect_url, "https://api.tosspayments.com/v1/payments/x/checkout");
    assert_int_equal(read_ready(&done).outcome, PAYMENT_UNKNOWN);
    assert_int_equal(read_ready(&more).outcome, PAYMENT_UNKNOWN);
}

TEST(a_confirmation_says_what_was_taken_and_when)
{
    const struct payment_reply done = reply(200, payment("DONE", "1000", "1000"));
    const struct payment_reply waits = reply(200, payment("WAITING_FOR_DEPOSIT", "1000", "1000"));
    struct payment_state found;

    assert_int_equal(TOSS->read_approve(arena, &SUBJECT, &done, &found).outcome, PAYMENT_OK);
    assert_int_equal(found.standing, PAYMENT_STANDS_PAID);
    assert_int_equal(found.total, 1000);
    assert_int_equal(found.approved_ms, APPROVED_MS);
    assert_text(found.currency, "KRW");
    assert_int_equal(read_approve(&waits).outcome, PAYMENT_UNKNOWN);
}

TEST(every_status_says_whether_money_was_taken)
{
    static const struct {
        const char *status;
        const char *balance;
        enum payment_standing standing;
        int64_t canceled;
    } CASES[] = {
        {"READY", "1000", PAYMENT_STANDS_OPEN, 0},
        {"READY", "0", PAYMENT_STANDS_OPEN, 0},
        {"IN_PROGRESS", "1000", PAYMENT_STANDS_OPEN, 0},
        {"WAITING_FOR_DEPOSIT", "1000", PAYMENT_STANDS_OPEN, 0},
        {"DONE", "1000", PAYMENT_STANDS_PAID, 0},
        {"PARTIAL_CANCELED", "400", PAYMENT_STANDS_PARTLY_CANCELED, 600},
        {"CANCELED", "0", PAYMENT_STANDS_CANCELED, 1000},
        {"ABORTED", "1000", PAYMENT_STANDS_FAILED, 0},
        {"EXPIRED", "0", PAYMENT_STANDS_EXPIRED, 0},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        const struct payment_reply answer =
            reply(200, payment(CASES[i].status, "1000", CASES[i].balance));
        struct payment_state found;
        assert_int_equal(TOSS->read_lookup(arena, &SUBJECT, &answer, &found).outcome, PAYMENT_OK);
        assert_int_equal(found.standing, CASES[i].standing);
        assert_int_equal(found.canceled, CASES[i].canceled);
        assert_int_equal(found.canceled_ms, APPROVED_MS + 60000);
    }
}

TEST(a_payment_that_contradicts_itself_is_no_answer)
{
    static const char *const CASES[][3] = {
        {"DONE", "1000", "999"},
        {"CANCELED", "1000", "1"},
        {"PARTIAL_CANCELED", "1000", "1000"},
        {"PARTIAL_CANCELED", "1000", "0"},
        {"DONE", "1000", "1001"},
        {"done", "1000", "1000"},
        {"PAID", "1000", "1000"},
        {"DONE", "\"1000\"", "1000"},
        {"DONE", "-1", "-1"},
        {"DONE", "1000.5", "1000.5"},
        {"DONE", "9007199254740992", "9007199254740992"},
        {"DONE", "99999999999999999999", "99999999999999999999"},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        const struct payment_reply answer =
            reply(200, payment(CASES[i][0], CASES[i][1], CASES[i][2]));
        if (read_lookup(&answer).outcome != PAYMENT_UNKNOWN ||
            read_approve(&answer).outcome != PAYMENT_UNKNOWN) {
            fail_msg("%s %s %s was taken", CASES[i][0], CASES[i][1], CASES[i][2]);
        }
    }
}

TEST(every_code_has_its_class)
{
    static const struct {
        long status;
        const char *code;
        enum payment_refusal refusal; /* NONE: it is looked up */
    } CODES[] = {
        {404, "NOT_FOUND_PAYMENT_SESSION", PAYMENT_REFUSAL_EXPIRED},
        {404, "NOT_FOUND_PAYMENT", PAYMENT_REFUSAL_NO_SUCH},
        {401, "UNAUTHORIZED_KEY", PAYMENT_REFUSAL_MISCONFIGURED},
        {400, "INVALID_API_KEY", PAYMENT_REFUSAL_MISCONFIGURED},
        {403, "INCORRECT_BASIC_AUTH_FORMAT", PAYMENT_REFUSAL_MISCONFIGURED},
        {403, "FORBIDDEN_REQUEST", PAYMENT_REFUSAL_MISCONFIGURED},
        {400, "NOT_REGISTERED_BUSINESS", PAYMENT_REFUSAL_MISCONFIGURED},
        {400, "NOT_FOUND_TERMINAL_ID", PAYMENT_REFUSAL_MISCONFIGURED},
        {400, "INVALID_UNREGISTERED_SUBMALL", PAYMENT_REFUSAL_MISCONFIGURED},
        {400, "BELOW_MINIMUM_AMOUNT", PAYMENT_REFUSAL_AMOUNT},
        {403, "REJECT_CARD_COMPANY", PAYMENT_REFUSAL_DECLINED},
        {403, "REJECT_CARD_PAYMENT", PAYMENT_REFUSAL_DECLINED},
        {403, "REJECT_ACCOUNT_PAYMENT", PAYMENT_REFUSAL_DECLINED},
        {403, "EXCEED_MAX_ONE_DAY_AMOUNT", PAYMENT_REFUSAL_DECLINED},
        {400, "EXCEED_MAX_AMOUNT", PAYMENT_REFUSAL_DECLINED},
        {400, "INVALID_CARD_NUMBER", PAYMENT_REFUSAL_DECLINED},
        {400, "INVALID_CARD_LOST_OR_STOLEN", PAYMENT_REFUSAL_DECLINED},
        {400, "INVALID_STOPPED_CARD", PAYMENT_REFUSAL_DECLINED},
        {400, "INVALID_REJECT_CARD", PAYMENT_REFUSAL_DECLINED},
        {403, "INVALID_PASSWORD", PAYMENT_REFUSAL_DECLINED},
        {400, "INVALID_AUTHORIZE_AUTH", PAYMENT_REFUSAL_DECLINED},
        {400, "INVALID_ACCOUNT_INFO_RE_REGISTER", PAYMENT_REFUSAL_DECLINED},
        {400, "NOT_SUPPORTED_INSTALLMENT_PLAN_CARD_OR_MERCHANT", PAYMENT_REFUSAL_DECLINED},
        {403, "NOT_AVAILABLE_BANK", PAYMENT_REFUSAL_DECLINED},
        {400, "NOT_ALLOWED_POINT_USE", PAYMENT_REFUSAL_DECLINED},
        {400, "RESTRICTED_TRANSFER_ACCOUNT", PAYMENT_REFUSAL_DECLINED},
        {403, "FDS_ERROR", PAYMENT_REFUSAL_DECLINED},
        {400, "ALREADY_PROCESSED_PAYMENT", PAYMENT_REFUSAL_NONE},
        {400, "PROVIDER_ERROR", PAYMENT_REFUSAL_NONE},
        {409, "IDEMPOTENT_REQUEST_PROCESSING", PAYMENT_REFUSAL_NONE},
        {400, "ALREADY_CANCELED_PAYMENT", PAYMENT_REFUSAL_NONE},
        {403, "NOT_CANCELABLE_AMOUNT", PAYMENT_REFUSAL_NONE},
        {403, "NOT_CANCELABLE_PAYMENT", PAYMENT_REFUSAL_NONE},
        {400, "CARD_PROCESSING_ERROR", PAYMENT_REFUSAL_NONE},
        {400, "INVALID_REQUEST", PAYMENT_REFUSAL_NONE},
        {400, "INVALID_IDEMPOTENCY_KEY", PAYMENT_REFUSAL_NONE},
        {400, "REJECT", PAYMENT_REFUSAL_NONE},
        {400, "A_NEW_CODE", PAYMENT_REFUSAL_NONE},
    };

    for (size_t i = 0; i < COUNT(CODES); i++) {
        const struct payment_reply answer =
            reply(CODES[i].status,
                  arena_format(arena, "{\"code\":\"%s\",\"message\":\"x\",\"data\":null}",
                               CODES[i].code));
        for (size_t n = 0; n < COUNT(READERS); n++) {
            struct payment_verdict verdict = READERS[n](&answer);
            enum payment_refusal refusal = CODES[i].refusal;
            bool asks = READERS[n] == read_lookup;
            if (refusal == PAYMENT_REFUSAL_NONE || (asks && refusal != PAYMENT_REFUSAL_NO_SUCH &&
                                                    refusal != PAYMENT_REFUSAL_MISCONFIGURED)) {
                assert_int_equal(verdict.outcome, PAYMENT_UNKNOWN);
            } else {
                assert_int_equal(verdict.outcome, PAYMENT_REJECTED);
                assert_int_equal(verdict.refusal, refusal);
            }
            assert_text(verdict.detail, CODES[i].code);
        }
    }
}

TEST(no_other_answer_is_a_refusal)
{
    static const struct {
        long status;
        const char *body;
    } ANSWERS[] = {
        {500, "{\"code\":\"REJECT_CARD_COMPANY\"}"},
        {502, "<html>"},
        {302, "{\"code\":\"REJECT_CARD_COMPANY\"}"},
        {400, ""},
        {400, "{}"},
        {400, "{\"code\":-780}"},
        {400, "{\"code\":\"REJECT_CARD COMPANY\"}"},
        {400, "{\"code\":\"REJECT_CARD_COMPANY\"} x"},
        {403, "<html>REJECT_CARD_COMPANY</html>"},
        {429, ""},
        {200, "{\"code\":\"REJECT_CARD_COMPANY\"}"},
        {200, ""},
        {200, "{}"},
        {200, "[]"},
        {200, "{\"paymentKey\":1,\"orderId\":[],\"status\":{},\"totalAmount\":null}"},
    };

    for (size_t i = 0; i < COUNT(ANSWERS); i++) {
        const struct payment_reply answer = reply(ANSWERS[i].status, ANSWERS[i].body);
        for (size_t n = 0; n < COUNT(READERS); n++) {
            if (READERS[n](&answer).outcome != PAYMENT_UNKNOWN) {
                fail_msg("%ld %s is taken for a verdict by reader %zu", ANSWERS[i].status,
                         ANSWERS[i].body, n);
            }
        }
    }
}

TEST(another_payment_is_no_answer)
{
    struct payment_subject other = SUBJECT;
    const struct payment_reply answer = reply(200, payment("DONE", "1000", "1000"));
    struct payment_state found;

    other.id = STR("p_another");
    assert_int_equal(TOSS->read_lookup(arena, &other, &answer, &found).outcome, PAYMENT_UNKNOWN);
    other = SUBJECT;
    other.ref = STR("another");
    assert_int_equal(TOSS->read_approve(arena, &other, &answer, &found).outcome, PAYMENT_UNKNOWN);
}

TEST(a_cancel_says_how_much_came_back_in_all)
{
    const struct payment_reply part = reply(200, payment("PARTIAL_CANCELED", "1000", "400"));
    const struct payment_reply none = reply(200, payment("DONE", "1000", "1000"));
    struct payment_state found;

    assert_int_equal(TOSS->read_cancel(arena, &SUBJECT, &part, &found).outcome, PAYMENT_OK);
    assert_int_equal(found.canceled, 600);
    assert_int_equal(read_cancel(&none).outcome, PAYMENT_UNKNOWN);
}

TEST(what_is_left_is_what_the_provider_says)
{
    static const struct {
        const char *status;
        const char *balance;
        const char *vat;
        const char *tax_free;
        int64_t left; /* -1: not reported */
    } CASES[] = {
        {"DONE", "1000", "64", "300", 1000},
        {"PARTIAL_CANCELED", "400", "37", "0", 400},
        {"PARTIAL_CANCELED", "400", "0", "400", 400},
        {"PARTIAL_CANCELED", "400", "0", "401", -1},
        {"PARTIAL_CANCELED", "400", "101", "300", -1},
        {"PARTIAL_CANCELED", "400", "37", "null", -1},
        {"PARTIAL_CANCELED", "400", "\"37\"", "0", -1},
        {"EXPIRED", "0", "0", "0", -1},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        const struct payment_reply answer = reply(
            200, arena_format(arena,
                              "{\"paymentKey\":\"" KEY "\",\"orderId\":\"" ID
                              "\",\"currency\":\"KRW\",\"status\":\"%s\",\"totalAmount\":1000,"
                              "\"balanceAmount\":%s,\"vat\":%s,\"taxFreeAmount\":%s}",
                              CASES[i].status, CASES[i].balance, CASES[i].vat, CASES[i].tax_free));
        struct payment_state found;
        assert_int_equal(TOSS->read_lookup(arena, &SUBJECT, &answer, &found).outcome, PAYMENT_OK);
        assert_int_equal(found.left.total, CASES[i].left);
        if (CASES[i].left >= 0) {
            assert_int_equal(found.left.vat, strtol(CASES[i].vat, NULL, 10));
            assert_int_equal(found.left.tax_free, strtol(CASES[i].tax_free, NULL, 10));
        }
    }
}

#define EVENT                                                                                      \
    "{\"eventType\":\"PAYMENT_STATUS_CHANGED\",\"createdAt\":\"2022-01-01T00:00:00.000000\","      \
    "\"data\":{\"paymentKey\":\"" KEY "\",\"orderId\":\"" ID "\",\"status\":\"DONE\"}}"

TEST(a_webhook_says_which_payment_to_look_up)
{
    static const struct {
        const char *body;
        enum payment_notice_outcome outcome;
    } CASES[] = {
        {EVENT, PAYMENT_NOTICE_HINT},
        {"{\"eventType\":\"PAYMENT_STATUS_CHANGED\",\"data\":{\"orderId\":\"" ID "\"}}",
         PAYMENT_NOTICE_HINT},
        {"{\"eventType\":\"payout.changed\",\"data\":{}}", PAYMENT_NOTICE_OTHER},
        {"{\"eventType\":\"PAYMENT_STATUS_CHANGED\"}", PAYMENT_NOTICE_OTHER},
        {"{\"eventType\":\"PAYMENT_STATUS_CHANGED\",\"data\":{}}", PAYMENT_NOTICE_MALFORMED},
        {"{\"eventType\":\"PAYMENT_STATUS_CHANGED\",\"data\":{\"orderId\":\"a b\"}}",
         PAYMENT_NOTICE_MALFORMED},
        {"{\"data\":{\"orderId\":\"" ID "\"}}", PAYMENT_NOTICE_MALFORMED},
        {"[]", PAYMENT_NOTICE_MALFORMED},
        {"", PAYMENT_NOTICE_MALFORMED},
        {EVENT EVENT, PAYMENT_NOTICE_MALFORMED},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct payment_hint hint;
        assert_int_equal(TOSS->notice(arena, str_of(CASES[i].body), &hint), CASES[i].outcome);
        if (CASES[i].outcome == PAYMENT_NOTICE_HINT) {
            assert_text(hint.id, ID);
            assert_text(hint.ref, i == 0 ? KEY : "");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_written_as_toss_documents_them),
        cmocka_unit_test(the_key_goes_as_a_name_without_a_password),
        cmocka_unit_test(what_the_browser_brings_must_be_this_payment_and_this_amount),
        cmocka_unit_test(a_session_is_a_payment_with_a_page),
        cmocka_unit_test(a_confirmation_says_what_was_taken_and_when),
        cmocka_unit_test(every_status_says_whether_money_was_taken),
        cmocka_unit_test(a_payment_that_contradicts_itself_is_no_answer),
        cmocka_unit_test(every_code_has_its_class),
        cmocka_unit_test(no_other_answer_is_a_refusal),
        cmocka_unit_test(another_payment_is_no_answer),
        cmocka_unit_test(a_cancel_says_how_much_came_back_in_all),
        cmocka_unit_test(what_is_left_is_what_the_provider_says),
        cmocka_unit_test(a_webhook_says_which_payment_to_look_up),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
