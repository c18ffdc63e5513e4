/*
 * toss — Toss Payments: a payment is created, the browser returns with its key, and it is
 * confirmed. Errors as words, times with their zone. Each POST has an Idempotency-Key, so that a
 * repeated one is executed once.
 */
#include <stdio.h>
#include <stdlib.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "lib/base/clock.h"
#include "lib/http_client/http_client.h"
#include "lib/payments/payment_adapter.h"
#include "lib/payments/payment_json.h"
#include "lib/payments/toss_webhook.h"

enum {
    HTTP_OK = 200,
    HTTP_UNAUTHORIZED = 401,
    HTTP_CLIENT_FAULT = 400,
    HTTP_SERVER_FAULT = 500,
    CODE_MAX = 80,
    STATUS_MAX = 40,
    AMOUNT_TEXT = 20,
    HOUR_MS = 3600000
};

struct error_row {
    const char *name; /* a name ending in '_' is a prefix */
    enum payment_refusal refusal;
};

/* A code that is missing here is inconclusive and looked up: ALREADY_PROCESSED_PAYMENT,
 * PROVIDER_ERROR, IDEMPOTENT_REQUEST_PROCESSING, ALREADY_CANCELED_PAYMENT, NOT_CANCELABLE_…, and
 * new codes. */
static const struct error_row ERRORS[] = {
    {"NOT_FOUND_PAYMENT_SESSION", PAYMENT_REFUSAL_EXPIRED},
    {"NOT_FOUND_PAYMENT", PAYMENT_REFUSAL_NO_SUCH},
    {"UNAUTHORIZED_KEY", PAYMENT_REFUSAL_MISCONFIGURED},
    {"INVALID_API_KEY", PAYMENT_REFUSAL_MISCONFIGURED},
    {"INCORRECT_BASIC_AUTH_FORMAT", PAYMENT_REFUSAL_MISCONFIGURED},
    {"FORBIDDEN_REQUEST", PAYMENT_REFUSAL_MISCONFIGURED},
    {"NOT_REGISTERED_BUSINESS", PAYMENT_REFUSAL_MISCONFIGURED},
    {"NOT_FOUND_TERMINAL_ID", PAYMENT_REFUSAL_MISCONFIGURED},
    {"INVALID_UNREGISTERED_SUBMALL", PAYMENT_REFUSAL_MISCONFIGURED},
    {"BELOW_MINIMUM_AMOUNT", PAYMENT_REFUSAL_AMOUNT},
    {"REJECT_", PAYMENT_REFUSAL_DECLINED},
    {"EXCEED_", PAYMENT_REFUSAL_DECLINED},
    {"INVALID_CARD_", PAYMENT_REFUSAL_DECLINED},
    {"INVALID_STOPPED_CARD", PAYMENT_REFUSAL_DECLINED},
    {"INVALID_REJECT_CARD", PAYMENT_REFUSAL_DECLINED},
    {"INVALID_PASSWORD", PAYMENT_REFUSAL_DECLINED},
    {"INVALID_AUTHORIZE_AUTH", PAYMENT_REFUSAL_DECLINED},
    {"INVALID_ACCOUNT_INFO_RE_REGISTER", PAYMENT_REFUSAL_DECLINED},
    {"NOT_SUPPORTED_", PAYMENT_REFUSAL_DECLINED},
    {"NOT_AVAILABLE_", PAYMENT_REFUSAL_DECLINED},
    {"NOT_ALLOWED_", PAYMENT_REFUSAL_DECLINED},
    {"RESTRICTED_", PAYMENT_REFUSAL_DECLINED},
    {"FDS_ERROR", PAYMENT_REFUSAL_DECLINED},
};

static const struct {
    const char *name;
    enum payment_standing standing;
} STATUS[] = {
    {"READY", PAYMENT_STANDS_OPEN},
    {"IN_PROGRESS", PAYMENT_STANDS_OPEN},
    {"WAITING_FOR_DEPOSIT", PAYMENT_STANDS_OPEN},
    {"DONE", PAYMENT_STANDS_PAID},
    {"PARTIAL_CANCELED", PAYMENT_STANDS_PARTLY_CANCELED},
    {"CANCELED", PAYMENT_STANDS_CANCELED},
    {"ABORTED", PAYMENT_STANDS_FAILED},
    {"EXPIRED", PAYMENT_STANDS_EXPIRED},
};

static void add_base64(struct buffer *out, const void *bytes, size_t n)
{
    char *text = malloc(4 * ((n + 2) / 3) + 1);

    if (text == NULL) {
        abort();
    }
    int length = EVP_EncodeBlock((unsigned char *)text, bytes, (int)n);
    buffer_add(out, str_sized(text, (size_t)length));
    OPENSSL_cleanse(text, (size_t)length);
    free(text);
}

/* Basic authentication: the key as user name, an empty password. */
static void authorize(struct str secret, struct buffer *out)
{
    struct buffer pair;

    buffer_init(&pair, secret.n + 1);
    buffer_add(&pair, secret);
    buffer_add_char(&pair, ':');
    buffer_add(out, STR("Basic "));
    add_base64(out, pair.bytes, pair.length);
    OPENSSL_cleanse(pair.bytes, pair.length);
    buffer_free(&pair);
}

static void ask_ready(const struct payment_shop *shop, const struct payment_subject *subject,
                      const struct payment_offer *offer, struct payment_call *call)
{
    (void)shop;
    call->method = "POST";
    buffer_add(&call->path, STR("/v1/payments"));
    buffer_add(&call->once, subject->id);
    buffer_add_char(&call->body, '{');
    payment_json_add(&call->body, "method", STR("CARD"));
    payment_json_add_int(&call->body, "amount", subject->money.total);
    payment_json_add_int(&call->body, "taxFreeAmount", subject->money.tax_free);
    payment_json_add(&call->body, "currency", subject->currency);
    payment_json_add(&call->body, "orderId", subject->id);
    payment_json_add(&call->body, "orderName", offer->item_name);
    payment_json_add(&call->body, "successUrl", offer->approve_url);
    payment_json_add(&call->body, "failUrl", offer->fail_url);
    payment_json_end(&call->body);
}

/* The key contains the number of the attempt: Toss stores refusals too under their key, and a new
 * attempt is made only after one at which certainly nothing was taken. */
static void ask_approve(const struct payment_shop *shop, const struct payment_subject *subject,
                        const struct payment_return *back, int64_t attempt,
                        struct payment_call *call)
{
    (void)shop;
    (void)back;
    call->method = "POST";
    buffer_add(&call->path, STR("/v1/payments/confirm"));
    buffer_add(&call->once, subject->id);
    buffer_format(&call->once, "-confirm-%lld", (long long)attempt);
    buffer_add_char(&call->body, '{');
    payment_json_add(&call->body, "paymentKey", subject->ref);
    payment_json_add(&call->body, "orderId", subject->id);
    payment_json_add_int(&call->body, "amount", subject->money.total);
    payment_json_end(&call->body);
}

static void ask_lookup(const struct payment_shop *shop, const struct payment_subject *subject,
                       struct payment_call *call)
{
    (void)shop;
    call->method = "GET";
    buffer_add(&call->path, STR("/v1/payments/"));
    http_percent_write(&call->path, subject->ref);
}

/* The key contains what was canceled before: canceling another part is a new call, repeating the
 * same part is not. It also contains the hour, because responses are stored under their key, even
 * temporary errors. */
static void ask_cancel(const struct payment_shop *shop, const struct payment_subject *subject,
                       const struct payment_money *money, int64_t before, struct payment_call *call)
{
    (void)shop;
    call->method = "POST";
    buffer_add(&call->path, STR("/v1/payments/"));
    http_percent_write(&call->path, subject->ref);
    buffer_add(&call->path, STR("/cancel"));
    buffer_add(&call->once, subject->id);
    buffer_format(&call->once, "-cancel-%lld-%lld", (long long)before,
                  (long long)(clock_wall_ms() / HOUR_MS));
    buffer_add_char(&call->body, '{');
    payment_json_add(&call->body, "cancelReason", STR("order canceled"));
    payment_json_add_int(&call->body, "cancelAmount", money->total);
    payment_json_add_int(&call->body, "taxFreeAmount", money->tax_free);
    payment_json_end(&call->body);
}

/* Checked before anything is sent: the browser could have changed the amount. */
static bool belongs(const struct payment_subject *subject, const struct payment_return *back)
{
    char amount[AMOUNT_TEXT + 1];

    (void)snprintf(amount, sizeof(amount), "%lld", (long long)subject->money.total);
    return str_equal(back->payment_key, subject->ref) && str_equal(back->order_id, subject->id) &&
           str_equal(back->amount, str_of(amount));
}

static const struct error_row *find_error(struct str code)
{
    for (size_t i = 0; i < sizeof(ERRORS) / sizeof(ERRORS[0]); i++) {
        struct str name = str_of(ERRORS[i].name);
        bool begins = name.p[name.n - 1] == '_';
        if (begins ? str_starts(code, name) : str_equal(code, name)) {
            return &ERRORS[i];
        }
    }
    return NULL;
}

/* Judges a response other than 200. With a 5xx no code means anything. */
static struct payment_verdict judge_error(struct arena *arena, const struct payment_reply *reply)
{
    bool refuses = reply->status >= HTTP_CLIENT_FAULT && reply->status < HTTP_SERVER_FAULT;
    json_object *object = refuses ? payment_json_parse(arena, reply->body) : NULL;
    char detail[PAYMENT_DETAIL_MAX];
    struct str code;

    if (object == NULL || !payment_json_word(arena, object, "code", CODE_MAX, &code)) {
        (void)snprintf(detail, sizeof(detail), "HTTP %ld", reply->status);
        return reply->status == HTTP_UNAUTHORIZED
                   ? payment_refused(arena, PAYMENT_REFUSAL_MISCONFIGURED, detail)
                   : payment_unknown(arena, false, detail);
    }
    (void)snprintf(detail, sizeof(detail), "%.*s", STR_ARG(code));
    const struct error_row *row = find_error(code);
    return row != NULL ? payment_refused(arena, row->refusal, detail)
                       : payment_unknown(arena, true, detail);
}

/* The time of the last cancel; -1: unknown. */
static int64_t last_cancel_ms(json_object *payment)
{
    json_object *list = NULL;
    int64_t last = -1;

    if (json_object_object_get_ex(payment, "cancels", &list) &&
        json_object_is_type(list, json_type_array)) {
        for (size_t i = 0; i < json_object_array_length(list); i++) {
            json_object *row = json_object_array_get_idx(list, i);
            int64_t at = json_object_is_type(row, json_type_object)
                             ? payment_json_time(row, "canceledAt")
                             : -1;
            last = at > last ? at : last;
        }
    }
    return last;
}

/* The parts of the balance: each partial cancel lowers them. */
static void read_left(json_object *payment, int64_t balance, struct payment_state *state)
{
    struct payment_money left = {.total = balance};

    if (payment_json_amount(payment, "taxFreeAmount", &left.tax_free) &&
        payment_json_amount(payment, "vat", &left.vat)) {
        payment_state_set_left(state, &left);
    }
}

/* Reads a Payment object and checks that it is this payment. */
static bool read_payment(struct arena *arena, const struct payment_subject *subject,
                         json_object *object, struct payment_state *state)
{
    struct str status;
    int64_t balance;

    *state = (struct payment_state){.approved_ms = -1, .left = payment_left_unreported()};
    if (object == NULL ||
        !payment_json_word(arena, object, "paymentKey", PAYMENT_REF_MAX, &state->ref) ||
        !payment_json_word(arena, object, "orderId", PAYMENT_ID_MAX, &state->id) ||
        !payment_json_word(arena, object, "currency", 3, &state->currency) ||
        !payment_json_word(arena, object, "status", STATUS_MAX, &status) ||
        !payment_json_amount(object, "totalAmount", &state->total) ||
        !payment_json_amount(object, "balanceAmount", &balance) || balance > state->total ||
        !str_equal(state->id, subject->id)) {
        return false;
    }
    state->approved_ms = payment_json_time(object, "approvedAt");
    state->canceled_ms = last_cancel_ms(object);
    for (size_t i = 0; i < sizeof(STATUS) / sizeof(STATUS[0]); i++) {
        if (str_equal(status, str_of(STATUS[i].name))) {
            state->standing = STATUS[i].standing;
            bool taken = state->standing == PAYMENT_STANDS_PAID ||
                         state->standing == PAYMENT_STANDS_PARTLY_CANCELED ||
                         state->standing == PAYMENT_STANDS_CANCELED;
            state->canceled = taken ? state->total - balance : 0;
            read_left(object, balance, state);
            return payment_state_adds_up(state);
        }
    }
    return false;
}

static struct payment_verdict read_ready(struct arena *arena, const struct payment_subject *subject,
                                         const struct payment_offer *offer,
                                         const struct payment_reply *reply,
                                         struct payment_session *session)
{
    struct payment_state state;

    (void)offer;
    if (reply->status != HTTP_OK) {
        return judge_error(arena, reply);
    }
    json_object *object = payment_json_parse(arena, reply->body);
    json_object *checkout = object == NULL ? NULL : payment_json_object(object, "checkout");
    if (checkout == NULL || !read_payment(arena, subject, object, &state) ||
        state.standing != PAYMENT_STANDS_OPEN || state.total != subject->money.total ||
        !payment_json_word(arena, checkout, "url", PAYMENT_REDIRECT_URL_MAX,
                           &session->redirect_url)) {
        return payment_unknown(arena, true, "a payment that does not fit");
    }
    session->ref = state.ref;
    return payment_done();
}

static struct payment_verdict read_lookup(struct arena *arena,
                                          const struct payment_subject *subject,
                                          const struct payment_reply *reply,
                                          struct payment_state *state)
{
    if (reply->status != HTTP_OK) {
        return payment_lookup_refused(judge_error(arena, reply));
    }
    if (!read_payment(arena, subject, payment_json_parse(arena, reply->body), state) ||
        !str_equal(state->ref, subject->ref)) {
        return payment_unknown(arena, true, "a state that does not fit");
    }
    return payment_done();
}

static struct payment_verdict read_approve(struct arena *arena,
                                           const struct payment_subject *subject,
                                           const struct payment_reply *reply,
                                           struct payment_state *state)
{
    if (reply->status != HTTP_OK) {
        return judge_error(arena, reply);
    }
    struct payment_verdict verdict = read_lookup(arena, subject, reply, state);
    if (verdict.outcome == PAYMENT_OK && state->standing != PAYMENT_STANDS_PAID) {
        return payment_unknown(arena, true, "confirmed, and not DONE");
    }
    return verdict;
}

static struct payment_verdict read_cancel(struct arena *arena,
                                          const struct payment_subject *subject,
                                          const struct payment_reply *reply,
                                          struct payment_state *state)
{
    if (reply->status != HTTP_OK) {
        return judge_error(arena, reply);
    }
    return payment_cancel_answered(arena, read_lookup(arena, subject, reply, state), state);
}

const struct payment_adapter toss_adapter = {
    .name = "toss",
    .base_url = "https://api.tosspayments.com",
    .authorize = authorize,
    .ask_ready = ask_ready,
    .ask_approve = ask_approve,
    .ask_lookup = ask_lookup,
    .ask_cancel = ask_cancel,
    .belongs = belongs,
    .read_ready = read_ready,
    .read_approve = read_approve,
    .read_lookup = read_lookup,
    .read_cancel = read_cancel,
    .notice = toss_notice,
};
