#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/payments/payment_adapter.h"

#define TID "T53d1b2051b66fd43573"
#define ID  "p_0123456789abcdefghijkl"

/* 2023-10-28T23:30:57 in Seoul. */
#define APPROVED_MS INT64_C(1698503457000)

static const struct payment_adapter *const KAKAOPAY = &kakaopay_adapter;
static const struct payment_shop SHOP = {.cid = {"TC0ONETIME", 10}};
static const struct payment_subject SUBJECT = {
    .id = {ID, sizeof(ID) - 1},
    .payer = {"member-1", 8},
    .ref = {TID, sizeof(TID) - 1},
    .money = {.total = 2200, .tax_free = 0, .vat = 200},
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

static void call_free(struct payment_call *call)
{
    buffer_free(&call->path);
    buffer_free(&call->body);
    buffer_free(&call->once);
}

static void assert_call(struct payment_call *call, const char *path, const char *body)
{
    assert_string_equal(call->method, "POST");
    assert_text(buffer_text(&call->path), path);
    assert_text(buffer_text(&call->body), body);
    assert_int_equal(call->once.length, 0);
    call_free(call);
}

TEST(calls_are_written_as_kakaopay_documents_them)
{
    const struct payment_offer offer = {
        .item_name = STR("\xeb\xa8\xb8\xea\xb7\xb8 \"A\""),
        .quantity = 2,
        .approve_url = STR("https://shop.example/v1/orders/o_1/payment/approve?state=s"),
        .cancel_url = STR("https://shop.example/c"),
        .fail_url = STR("https://shop.example/f"),
    };
    const struct payment_return back = {.pg_token = STR("c2f9\"x")};
    const struct payment_money money = {.total = 1100, .tax_free = 0, .vat = 100};
    struct payment_call call;
    struct buffer header;

    call_init(&call);
    KAKAOPAY->ask_ready(&SHOP, &SUBJECT, &offer, &call);
    assert_call(&call, "/online/v1/payment/ready",
                "{\"cid\":\"TC0ONETIME\",\"partner_order_id\":\"" ID
                "\",\"partner_user_id\":\"member-1\",\"item_name\":"
                "\"\xeb\xa8\xb8\xea\xb7\xb8 \\\"A\\\"\",\"quantity\":2,\"total_amount\":2200,"
                "\"tax_free_amount\":0,\"vat_amount\":200,\"approval_url\":"
                "\"https://shop.example/v1/orders/o_1/payment/approve?state=s\",\"cancel_url\":"
                "\"https://shop.example/c\",\"fail_url\":\"https://shop.example/f\"}");
    call_init(&call);
    KAKAOPAY->ask_approve(&SHOP, &SUBJECT, &back, 1, &call);
    assert_call(
        &call, "/online/v1/payment/approve",
        "{\"cid\":\"TC0ONETIME\",\"tid\":\"" TID "\",\"partner_order_id\":\"" ID
        "\",\"partner_user_id\":\"member-1\",\"pg_token\":\"c2f9\\\"x\",\"total_amount\":2200}");
    call_init(&call);
    KAKAOPAY->ask_lookup(&SHOP, &SUBJECT, &call);
    assert_call(&call, "/online/v1/payment/order", "{\"cid\":\"TC0ONETIME\",\"tid\":\"" TID "\"}");
    call_init(&call);
    KAKAOPAY->ask_cancel(&SHOP, &SUBJECT, &money, 300, &call);
    assert_call(&call, "/online/v1/payment/cancel",
                "{\"cid\":\"TC0ONETIME\",\"tid\":\"" TID "\",\"cancel_amount\":1100,"
                "\"cancel_tax_free_amount\":0,\"cancel_vat_amount\":100,"
                "\"cancel_available_amount\":1900}");
    buffer_init(&header, 64);
    KAKAOPAY->authorize(STR("dev-key"), &header);
    assert_text(buffer_text(&header), "SECRET_KEY dev-key");
    buffer_free(&header);
}

TEST(a_token_that_cannot_be_one_is_not_sent)
{
    char long_token[202];

    memset(long_token, 'x', sizeof(long_token) - 1);
    long_token[sizeof(long_token) - 1] = '\0';
    const struct {
        const char *token;
        bool good;
    } cases[] = {
        {"c2f9ae12", true}, {"", false}, {"a b", false}, {"a\n", false}, {long_token, false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct payment_return back = {.pg_token = str_of(cases[i].token)};
        assert_int_equal(KAKAOPAY->belongs(&SUBJECT, &back), cases[i].good);
    }
}

#define READY                                                                                      \
    "{\"tid\":\"" TID "\",\"tms_result\":false,\"next_redirect_app_url\":"                         \
    "\"https://online-pay.kakao.com/mockup/v1/ab/aInfo\",\"next_redirect_mobile_url\":"            \
    "\"https://online-pay.kakao.com/mockup/v1/ab/mInfo\",\"next_redirect_pc_url\":"                \
    "\"https://online-pay.kakao.com/mockup/v1/ab/info\",\"android_app_scheme\":\"kakaotalk://x\"," \
    "\"ios_app_scheme\":\"kakaotalk://x\",\"created_at\":\"2023-10-28T23:30:40\"}"

TEST(a_session_has_a_page_for_each_kind_of_browser)
{
    const struct payment_reply good = reply(200, READY);
    struct payment_offer offer = {.mobile = false};
    struct payment_session session;

    assert_int_equal(KAKAOPAY->read_ready(arena, &SUBJECT, &offer, &good, &session).outcome,
                     PAYMENT_OK);
    assert_text(session.ref, TID);
    assert_text(session.redirect_url, "https://online-pay.kakao.com/mockup/v1/ab/info");
    offer.mobile = true;
    assert_int_equal(KAKAOPAY->read_ready(arena, &SUBJECT, &offer, &good, &session).outcome,
                     PAYMENT_OK);
    assert_text(session.redirect_url, "https://online-pay.kakao.com/mockup/v1/ab/mInfo");
}

static struct payment_verdict read_ready(const struct payment_reply *answer)
{
    const struct payment_offer offer = {.mobile = false};
    struct payment_session session;

    return KAKAOPAY->read_ready(arena, &SUBJECT, &offer, answer, &session);
}

static struct payment_verdict read_approve(const struct payment_reply *answer)
{
    struct payment_state found;

    return KAKAOPAY->read_approve(arena, &SUBJECT, answer, &found);
}

static struct payment_verdict read_lookup(const struct payment_reply *answer)
{
    struct payment_state found;

    return KAKAOPAY->read_lookup(arena, &SUBJECT, answer, &found);
}

static struct payment_verdict read_cancel(const struct payment_reply *answer)
{
    struct payment_state found;

    return KAKAOPAY->read_cancel(arena, &SUBJECT, answer, &found);
}

typedef struct payment_verdict (*reader)(const struct payment_reply *answer);
static const reader READERS[] = {read_ready, read_approve, read_lookup, read_cancel};

TEST(every_code_has_its_class)
{
    static const struct {
        int code;
        enum payment_refusal refusal; /* NONE: it is looked up */
    } CODES[] = {
        {-701, PAYMENT_REFUSAL_TOO_EARLY},     {-702, PAYMENT_REFUSAL_NONE},
        {-703, PAYMENT_REFUSAL_DECLINED},      {-704, PAYMENT_REFUSAL_AMOUNT},
        {-705, PAYMENT_REFUSAL_DECLINED},      {-706, PAYMENT_REFUSAL_MISMATCH},
        {-707, PAYMENT_REFUSAL_MISMATCH},      {-708, PAYMENT_REFUSAL_MISMATCH},
        {-710, PAYMENT_REFUSAL_NONE},          {-711, PAYMENT_REFUSAL_AMOUNT},
        {-721, PAYMENT_REFUSAL_NO_SUCH},       {-722, PAYMENT_REFUSAL_AMOUNT},
        {-723, PAYMENT_REFUSAL_EXPIRED},       {-724, PAYMENT_REFUSAL_AMOUNT},
        {-725, PAYMENT_REFUSAL_AMOUNT},        {-726, PAYMENT_REFUSAL_AMOUNT},
        {-730, PAYMENT_REFUSAL_MISCONFIGURED}, {-731, PAYMENT_REFUSAL_MISCONFIGURED},
        {-732, PAYMENT_REFUSAL_MISCONFIGURED}, {-733, PAYMENT_REFUSAL_MISCONFIGURED},
        {-780, PAYMENT_REFUSAL_DECLINED},      {-781, PAYMENT_REFUSAL_NONE},
        {-782, PAYMENT_REFUSAL_NONE},          {-783, PAYMENT_REFUSAL_NONE},
        {-784, PAYMENT_REFUSAL_NONE},          {-785, PAYMENT_REFUSAL_NONE},
        {-797, PAYMENT_REFUSAL_DECLINED},      {-798, PAYMENT_REFUSAL_MISCONFIGURED},
        {-799, PAYMENT_REFUSAL_MISCONFIGURED}, {-2, PAYMENT_REFUSAL_NONE},
        {-9999, PAYMENT_REFUSAL_NONE},         {0, PAYMENT_REFUSAL_NONE},
        {780, PAYMENT_REFUSAL_NONE},
    };

    for (size_t i = 0; i < COUNT(CODES); i++) {
        char body[128];
        char detail[16];
        (void)snprintf(body, sizeof(body), "{\"error_code\":%d,\"error_message\":\"failure!\"}",
                       CODES[i].code);
        (void)snprintf(detail, sizeof(detail), "%d", CODES[i].code);
        const struct payment_reply answer = reply(400, body);
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
            if (refusal == PAYMENT_REFUSAL_NONE) {
                assert_true(verdict.answered);
            }
            assert_text(verdict.detail, detail);
        }
    }
}

TEST(what_the_means_of_payment_says_is_kept_for_support)
{
    const struct payment_reply answer = reply(
        400,
        "{\"error_code\":-780,\"error_message\":\"approval failure!\",\"extras\":"
        "{\"method_result_code\":\"USER_LOCKED\",\"method_result_message\":\"\xec\xa7\x84\"}}");
    const struct payment_reply hostile =
        reply(400, "{\"error_code\":-780,\"extras\":{\"method_result_code\":\"A\\nB\"}}");
    struct payment_verdict verdict = read_approve(&answer);

    assert_int_equal(verdict.refusal, PAYMENT_REFUSAL_DECLINED);
    assert_text(verdict.detail, "-780 USER_LOCKED");
    assert_text(read_approve(&hostile).detail, "-780");
}

TEST(no_other_answer_is_a_refusal)
{
    static const struct {
        long status;
        const char *body;
    } ANSWERS[] = {
        {500, "{\"error_code\":-780,\"error_message\":\"x\"}"},
        {502, "<html>502 Bad Gateway</html>"},
        {503, ""},
        {302, ""},
        {204, ""},
        {404, "{\"error_code\":-721}"},
        {403, "{\"error_code\":-780}"},
        {429, "{\"error_code\":-780}"},
        {400, ""},
        {400, "{}"},
        {400, "[{\"error_code\":-780}]"},
        {400, "{\"error_code\":\"-780\"}"},
        {400, "{\"error_code\":-780.0}"},
        {400, "{\"error_code\":-99999999999999999999}"},
        {400, "{\"error_code\":-780} and more"},
        {400, "{\"error_code\":-780"},
        {400, "{\"code\":-780}"},
        {200, "{\"error_code\":-780}"},
        {200, ""},
        {200, "{}"},
        {200, "null"},
        {200, "[]"},
        {200, "<html></html>"},
        {200, "{\"tid\":null,\"amount\":null,\"status\":null}"},
        {200, "{\"tid\":{},\"amount\":[],\"status\":1,\"partner_order_id\":true}"},
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
    const struct payment_reply unauthorized = reply(401, "");
    for (size_t n = 0; n < COUNT(READERS); n++) {
        struct payment_verdict verdict = READERS[n](&unauthorized);
        assert_int_equal(verdict.outcome, PAYMENT_REJECTED);
        assert_int_equal(verdict.refusal, PAYMENT_REFUSAL_MISCONFIGURED);
    }
}

/* Real answers' shapes, with what is to vary as arguments. */
static const char *approved(const char *tid, const char *id, const char *total)
{
    return arena_format(
        arena,
        "{\"aid\":\"A53d1b3534b976a88b68\",\"tid\":\"%s\",\"cid\":\"TC0ONETIME\","
        "\"partner_order_id\":\"%s\",\"partner_user_id\":\"member-1\",\"payment_method_type\":"
        "\"CARD\",\"item_name\":\"x\",\"quantity\":1,\"amount\":{\"total\":%s,\"tax_free\":0,"
        "\"vat\":200,\"point\":0,\"discount\":0,\"green_deposit\":0},\"card_info\":{\"bin\":"
        "\"621640\"},\"created_at\":\"2023-10-28T23:30:40\",\"approved_at\":"
        "\"2023-10-28T23:30:57\",\"tms_result\":false}",
        tid, id, total);
}

static const char *order(const char *status, const char *total, const char *canceled)
{
    return arena_format(
        arena,
        "{\"tid\":\"" TID "\",\"cid\":\"TC0ONETIME\",\"status\":\"%s\",\"partner_order_id\":\"" ID
        "\",\"partner_user_id\":\"member-1\",\"payment_method_type\":\"MONEY\",\"item_name\":\"x\","
        "\"quantity\":1,\"amount\":{\"total\":%s,\"tax_free\":0,\"vat\":200,\"point\":0},"
        "\"canceled_amount\":{\"total\":%s,\"tax_free\":0,\"vat\":0},\"cancel_available_amount\":"
        "{\"total\":2200},\"created_at\":\"2023-10-28T23:30:40\",\"approved_at\":"
        "\"2023-10-28T23:30:57\",\"canceled_at\":\"2023-10-28T23:40:57\","
        "\"payment_action_details\":[{\"aid\":\"A1\",\"amount\":2200}]}",
        status, total, canceled);
}

TEST(an_approval_says_what_was_taken_and_when)
{
    const struct payment_reply answer = reply(200, approved(TID, ID, "2200"));
    struct payment_state found;

    assert_int_equal(KAKAOPAY->read_approve(arena, &SUBJECT, &answer, &found).outcome, PAYMENT_OK);
    assert_int_equal(found.standing, PAYMENT_STANDS_PAID);
    assert_text(found.ref, TID);
    assert_text(found.id, ID);
    assert_text(found.currency, "KRW");
    assert_int_equal(found.total, 2200);
    assert_int_equal(found.canceled, 0);
    assert_int_equal(found.approved_ms, APPROVED_MS);
    assert_int_equal(found.canceled_ms, -1);
}

TEST(another_amount_is_reported_and_another_payment_is_no_answer)
{
    static const char *const TOTALS[] = {"-1",      "2200.0",           "\"2200\"",
                                         "1e3",     "9007199254740992", "99999999999999999999999",
                                         "-0.0001", "[2200]",           "null"};
    const struct payment_reply more = reply(200, approved(TID, ID, "2201"));
    const struct payment_reply foreign = reply(200, approved("T0000000000000000000", ID, "2200"));
    const struct payment_reply other = reply(200, approved(TID, "p_another", "2200"));
    struct payment_state found;

    assert_int_equal(KAKAOPAY->read_approve(arena, &SUBJECT, &more, &found).outcome, PAYMENT_OK);
    assert_int_equal(found.total, 2201);
    assert_int_equal(read_approve(&foreign).outcome, PAYMENT_UNKNOWN);
    assert_int_equal(read_approve(&other).outcome, PAYMENT_UNKNOWN);
    for (size_t i = 0; i < COUNT(TOTALS); i++) {
        const struct payment_reply answer = reply(200, approved(TID, ID, TOTALS[i]));
        if (read_approve(&answer).outcome != PAYMENT_UNKNOWN) {
            fail_msg("the amount %s was taken", TOTALS[i]);
        }
    }
}

TEST(every_status_says_whether_money_was_taken)
{
    static const struct {
        const char *status;
        const char *canceled;
        enum payment_standing standing;
    } CASES[] = {
        {"READY", "0", PAYMENT_STANDS_OPEN},
        {"SEND_TMS", "0", PAYMENT_STANDS_OPEN},
        {"OPEN_PAYMENT", "0", PAYMENT_STANDS_OPEN},
        {"SELECT_METHOD", "0", PAYMENT_STANDS_OPEN},
        {"ARS_WAITING", "0", PAYMENT_STANDS_OPEN},
        {"AUTH_PASSWORD", "0", PAYMENT_STANDS_OPEN},
        {"SUCCESS_PAYMENT", "0", PAYMENT_STANDS_PAID},
        {"PART_CANCEL_PAYMENT", "700", PAYMENT_STANDS_PARTLY_CANCELED},
        {"CANCEL_PAYMENT", "2200", PAYMENT_STANDS_CANCELED},
        {"FAIL_AUTH_PASSWORD", "0", PAYMENT_STANDS_FAILED},
        {"QUIT_PAYMENT", "0", PAYMENT_STANDS_FAILED},
        {"FAIL_PAYMENT", "0", PAYMENT_STANDS_FAILED},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        const struct payment_reply answer =
            reply(200, order(CASES[i].status, "2200", CASES[i].canceled));
        struct payment_state found;
        assert_int_equal(KAKAOPAY->read_lookup(arena, &SUBJECT, &answer, &found).outcome,
                         PAYMENT_OK);
        assert_int_equal(found.standing, CASES[i].standing);
        assert_int_equal(found.total, 2200);
        assert_int_equal(found.approved_ms, APPROVED_MS);
        assert_int_equal(found.canceled_ms, APPROVED_MS + 600000);
    }
}

TEST(a_state_that_contradicts_itself_is_no_answer)
{
    static const char *const CASES[][2] = {
        {"SUCCESS_PAYMENT", "1"},
        {"CANCEL_PAYMENT", "0"},
        {"CANCEL_PAYMENT", "2199"},
        {"PART_CANCEL_PAYMENT", "0"},
        {"PART_CANCEL_PAYMENT", "2200"},
        {"CANCEL_PAYMENT", "2201"},
        {"QUIT_PAYMENT", "1"},
        {"ISSUED_SID", "0"},
        {"success_payment", "0"},
        {"SUCCESS_PAYMENT ", "0"},
        {"", "0"},
        {"SUCCESS_PAYMENT", "-1"},
        {"SUCCESS_PAYMENT", "\"0\""},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        const struct payment_reply answer = reply(200, order(CASES[i][0], "2200", CASES[i][1]));
        struct payment_verdict verdict = read_lookup(&answer);
        if (verdict.outcome != PAYMENT_UNKNOWN || !verdict.answered) {
            fail_msg("'%s' with %s was taken", CASES[i][0], CASES[i][1]);
        }
    }
}

TEST(what_is_left_is_what_the_provider_says)
{
    static const struct {
        const char *left;
        int64_t vat; /* -1: not reported */
        int64_t tax_free;
    } CASES[] = {
        {"{\"total\":1500,\"tax_free\":0,\"vat\":137,\"point\":0}", 137, 0},
        {"{\"total\":1500,\"tax_free\":1500,\"vat\":0}", 0, 1500},
        {"{\"total\":1501,\"tax_free\":0,\"vat\":137}", -1, 0},
        {"{\"total\":1500,\"tax_free\":1501,\"vat\":0}", -1, 0},
        {"{\"total\":1500,\"tax_free\":1400,\"vat\":101}", -1, 0},
        {"{\"total\":1500,\"tax_free\":-1,\"vat\":137}", -1, 0},
        {"{\"total\":1500,\"tax_free\":0}", -1, 0},
        {"null", -1, 0},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        const struct payment_reply answer =
            reply(200, arena_format(arena,
                                    "{\"tid\":\"" TID "\",\"status\":\"PART_CANCEL_PAYMENT\","
                                    "\"partner_order_id\":\"" ID "\",\"amount\":{\"total\":2200},"
                                    "\"canceled_amount\":{\"total\":700},"
                                    "\"cancel_available_amount\":%s}",
                                    CASES[i].left));
        struct payment_state found;
        assert_int_equal(KAKAOPAY->read_lookup(arena, &SUBJECT, &answer, &found).outcome,
                         PAYMENT_OK);
        assert_int_equal(found.left.total, CASES[i].vat < 0 ? -1 : 1500);
        if (CASES[i].vat >= 0) {
            assert_int_equal(found.left.vat, CASES[i].vat);
            assert_int_equal(found.left.tax_free, CASES[i].tax_free);
        }
    }
}

TEST(before_a_means_is_chosen_times_may_be_missing)
{
    const struct payment_reply answer =
        reply(200, "{\"tid\":\"" TID "\",\"status\":\"OPEN_PAYMENT\",\"partner_order_id\":\"" ID
                   "\",\"payment_method_type\":null,\"amount\":{\"total\":2200},"
                   "\"approved_at\":null}");
    struct payment_state found;

    assert_int_equal(KAKAOPAY->read_lookup(arena, &SUBJECT, &answer, &found).outcome, PAYMENT_OK);
    assert_int_equal(found.standing, PAYMENT_STANDS_OPEN);
    assert_int_equal(found.approved_ms, -1);
    assert_int_equal(found.canceled_ms, -1);
}

TEST(times_are_korea_s_unless_they_say_otherwise)
{
    static const struct {
        const char *text;
        int64_t ms;
    } CASES[] = {
        {"2023-10-28T23:30:57", APPROVED_MS},
        {"2023-10-28T23:30:57+09:00", APPROVED_MS},
        {"2023-10-28T14:30:57Z", APPROVED_MS},
        {"2024-01-01T00:00:00", INT64_C(1704034800000)},
        {"2023-02-30T00:00:00", -1},
        {"2023-10-28 nonsense", -1},
        {"2023-10-28T23:30", -1},
        {"1698503457", -1},
        {"", -1},
        {"2023-10-28T23:30:57+09:00 2023-10-28T23:30:57+09:00", -1},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        const struct payment_reply answer =
            reply(200, arena_format(arena,
                                    "{\"tid\":\"" TID "\",\"partner_order_id\":\"" ID
                                    "\",\"amount\":{\"total\":2200},\"approved_at\":\"%s\"}",
                                    CASES[i].text));
        struct payment_state found;
        assert_int_equal(KAKAOPAY->read_approve(arena, &SUBJECT, &answer, &found).outcome,
                         PAYMENT_OK);
        assert_int_equal(found.approved_ms, CASES[i].ms);
    }
}

TEST(a_cancel_says_how_much_came_back_in_all)
{
    const struct payment_reply part = reply(200, order("PART_CANCEL_PAYMENT", "2200", "700"));
    const struct payment_reply none = reply(200, order("SUCCESS_PAYMENT", "2200", "0"));
    struct payment_state found;

    assert_int_equal(KAKAOPAY->read_cancel(arena, &SUBJECT, &part, &found).outcome, PAYMENT_OK);
    assert_int_equal(found.standing, PAYMENT_STANDS_PARTLY_CANCELED);
    assert_int_equal(found.canceled, 700);
    assert_int_equal(read_cancel(&none).outcome, PAYMENT_UNKNOWN);
}

TEST(hostile_text_does_not_get_through)
{
    static const char *const PAGES[] = {"https://pay.example/\\u0000x", "https://pay.example/ x",
                                        "https://pay.example/\\r\\nX: y",
                                        "https://pay.example/\xed\x95\x9c", ""};
    struct buffer deep;
    struct buffer wide;

    for (size_t i = 0; i < COUNT(PAGES); i++) {
        const struct payment_reply answer =
            reply(200, arena_format(arena, "{\"tid\":\"" TID "\",\"next_redirect_pc_url\":\"%s\"}",
                                    PAGES[i]));
        assert_int_equal(read_ready(&answer).outcome, PAYMENT_UNKNOWN);
    }
    buffer_init(&deep, 100000);
    buffer_add(&deep, STR("{\"tid\":\"" TID "\",\"x\":"));
    for (int i = 0; i < 10000; i++) {
        buffer_add_char(&deep, '[');
    }
    const struct payment_reply nested = {.status = 200, .body = buffer_text(&deep)};
    assert_int_equal(read_lookup(&nested).outcome, PAYMENT_UNKNOWN);
    buffer_free(&deep);
    buffer_init(&wide, 100000);
    buffer_add(&wide, STR("{\"next_redirect_pc_url\":\"https://x/\",\"tid\":\""));
    for (int i = 0; i < PAYMENT_REF_MAX + 1; i++) {
        buffer_add_char(&wide, 'T');
    }
    buffer_add(&wide, STR("\"}"));
    const struct payment_reply long_tid = {.status = 200, .body = buffer_text(&wide)};
    assert_int_equal(read_ready(&long_tid).outcome, PAYMENT_UNKNOWN);
    buffer_free(&wide);
}

TEST(vat_is_an_eleventh_rounded_half_up)
{
    static const int64_t CASES[][3] = {
        {1, 0, 0},          {5, 0, 0},
        {6, 0, 1},          {16, 0, 1},
        {17, 0, 2},         {1000, 0, 91},
        {2200, 0, 200},     {10000, 10000, 0},
        {10000, 5000, 455}, {INT64_C(9007199254740991), 0, INT64_C(818836295885545)},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        assert_int_equal(payment_vat(CASES[i][0], CASES[i][1]), CASES[i][2]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_written_as_kakaopay_documents_them),
        cmocka_unit_test(a_token_that_cannot_be_one_is_not_sent),
        cmocka_unit_test(a_session_has_a_page_for_each_kind_of_browser),
        cmocka_unit_test(every_code_has_its_class),
        cmocka_unit_test(what_the_means_of_payment_says_is_kept_for_support),
        cmocka_unit_test(no_other_answer_is_a_refusal),
        cmocka_unit_test(an_approval_says_what_was_taken_and_when),
        cmocka_unit_test(another_amount_is_reported_and_another_payment_is_no_answer),
        cmocka_unit_test(every_status_says_whether_money_was_taken),
        cmocka_unit_test(a_state_that_contradicts_itself_is_no_answer),
        cmocka_unit_test(what_is_left_is_what_the_provider_says),
        cmocka_unit_test(before_a_means_is_chosen_times_may_be_missing),
        cmocka_unit_test(times_are_korea_s_unless_they_say_otherwise),
        cmocka_unit_test(a_cancel_says_how_much_came_back_in_all),
        cmocka_unit_test(hostile_text_does_not_get_through),
        cmocka_unit_test(vat_is_an_eleventh_rounded_half_up),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
