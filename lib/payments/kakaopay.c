/*
 * kakaopay — KakaoPay's online API, version 1: JSON by POST, errors as numbers with status 400,
 * Korean times without a zone. No webhooks and no Idempotency-Key: the state of the tid prevents
 * duplicates.
 */
#include <stdio.h>

#include "lib/payments/payment_adapter.h"
#include "lib/payments/payment_json.h"

enum {
    HTTP_OK = 200,
    HTTP_UNAUTHORIZED = 401,
    STATUS_MAX = 40,
    PG_TOKEN_MAX = 200,
    METHOD_CODE_MAX = 64
};

/* What an error code means for the call that it answers. */
enum meaning {
    MEANS_REFUSED, /* the call did nothing */
    MEANS_LOOK_UP  /* it may have been done: by an earlier call, or by one under way */
};

struct error_row {
    int code;
    enum meaning meaning;
    enum payment_refusal refusal;
};

/* A code that is missing here is inconclusive and looked up. So are -710, which also answers the
 * second of two equal cancels, and -781. */
static const struct error_row ERRORS[] = {
    {-701, MEANS_REFUSED, PAYMENT_REFUSAL_TOO_EARLY},
    {-702, MEANS_LOOK_UP, PAYMENT_REFUSAL_NONE}, /* approved before */
    {-703, MEANS_REFUSED, PAYMENT_REFUSAL_DECLINED},
    {-704, MEANS_REFUSED, PAYMENT_REFUSAL_AMOUNT},
    {-705, MEANS_REFUSED, PAYMENT_REFUSAL_DECLINED},
    {-706, MEANS_REFUSED, PAYMENT_REFUSAL_MISMATCH},
    {-707, MEANS_REFUSED, PAYMENT_REFUSAL_MISMATCH},
    {-708, MEANS_REFUSED, PAYMENT_REFUSAL_MISMATCH},
    {-710, MEANS_LOOK_UP, PAYMENT_REFUSAL_NONE},
    {-711, MEANS_REFUSED, PAYMENT_REFUSAL_AMOUNT},
    {-721, MEANS_REFUSED, PAYMENT_REFUSAL_NO_SUCH},
    {-722, MEANS_REFUSED, PAYMENT_REFUSAL_AMOUNT},
    {-723, MEANS_REFUSED, PAYMENT_REFUSAL_EXPIRED},
    {-724, MEANS_REFUSED, PAYMENT_REFUSAL_AMOUNT},
    {-725, MEANS_REFUSED, PAYMENT_REFUSAL_AMOUNT},
    {-726, MEANS_REFUSED, PAYMENT_REFUSAL_AMOUNT},
    {-730, MEANS_REFUSED, PAYMENT_REFUSAL_MISCONFIGURED},
    {-731, MEANS_REFUSED, PAYMENT_REFUSAL_MISCONFIGURED},
    {-732, MEANS_REFUSED, PAYMENT_REFUSAL_MISCONFIGURED},
    {-733, MEANS_REFUSED, PAYMENT_REFUSAL_MISCONFIGURED},
    {-780, MEANS_REFUSED, PAYMENT_REFUSAL_DECLINED},
    {-781, MEANS_LOOK_UP, PAYMENT_REFUSAL_NONE},
    {-783, MEANS_LOOK_UP, PAYMENT_REFUSAL_NONE}, /* its state does not allow it */
    {-784, MEANS_LOOK_UP, PAYMENT_REFUSAL_NONE},
    {-785, MEANS_LOOK_UP, PAYMENT_REFUSAL_NONE}, /* another call is under way */
    {-797, MEANS_REFUSED, PAYMENT_REFUSAL_DECLINED},
    {-798, MEANS_REFUSED, PAYMENT_REFUSAL_MISCONFIGURED},
    {-799, MEANS_REFUSED, PAYMENT_REFUSAL_MISCONFIGURED},
};

static const struct {
    const char *name;
    enum payment_standing standing;
} STATUS[] = {
    {"READY", PAYMENT_STANDS_OPEN},
    {"SEND_TMS", PAYMENT_STANDS_OPEN},
    {"OPEN_PAYMENT", PAYMENT_STANDS_OPEN},
    {"SELECT_METHOD", PAYMENT_STANDS_OPEN},
    {"ARS_WAITING", PAYMENT_STANDS_OPEN},
    {"AUTH_PASSWORD", PAYMENT_STANDS_OPEN},
    {"SUCCESS_PAYMENT", PAYMENT_STANDS_PAID},
    {"PART_CANCEL_PAYMENT", PAYMENT_STANDS_PARTLY_CANCELED},
    {"CANCEL_PAYMENT", PAYMENT_STANDS_CANCELED},
    {"FAIL_AUTH_PASSWORD", PAYMENT_STANDS_FAILED},
    {"QUIT_PAYMENT", PAYMENT_STANDS_FAILED},
    {"FAIL_PAYMENT", PAYMENT_STANDS_FAILED},
};

static void authorize(struct str secret, struct buffer *out)
{
    buffer_add(out, STR("SECRET_KEY "));
    buffer_add(out, secret);
}

static void begin(struct payment_call *call, const char *name, const struct payment_shop *shop)
{
    call->method = "POST";
    buffer_format(&call->path, "/online/v1/payment/%s", name);
    buffer_add_char(&call->body, '{');
    payment_json_add(&call->body, "cid", shop->cid);
}

static void ask_ready(const struct payment_shop *shop, const struct payment_subject *subject,
                      const struct payment_offer *offer, struct payment_call *call)
{
    begin(call, "ready", shop);
    payment_json_add(&call->body, "partner_order_id", subject->id);
    payment_json_add(&call->body, "partner_user_id", subject->payer);
    payment_json_add(&call->body, "item_name", offer->item_name);
    payment_json_add_int(&call->body, "quantity", offer->quantity);
    payment_json_add_int(&call->body, "total_amount", subject->money.total);
    payment_json_add_int(&call->body, "tax_free_amount", subject->money.tax_free);
    payment_json_add_int(&call->body, "vat_amount", subject->money.vat);
    payment_json_add(&call->body, "approval_url", offer->approve_url);
    payment_json_add(&call->body, "cancel_url", offer->cancel_url);
    payment_json_add(&call->body, "fail_url", offer->fail_url);
    payment_json_end(&call->body);
}

static void ask_approve(const struct payment_shop *shop, const struct payment_subject *subject,
                        const struct payment_return *back, int64_t attempt,
                        struct payment_call *call)
{
    (void)attempt;
    begin(call, "approve", shop);
    payment_json_add(&call->body, "tid", subject->ref);
    payment_json_add(&call->body, "partner_order_id", subject->id);
    payment_json_add(&call->body, "partner_user_id", subject->payer);
    payment_json_add(&call->body, "pg_token", back->pg_token);
    payment_json_add_int(&call->body, "total_amount", subject->money.total);
    payment_json_end(&call->body);
}

static void ask_lookup(const struct payment_shop *shop, const struct payment_subject *subject,
                       struct payment_call *call)
{
    begin(call, "order", shop);
    payment_json_add(&call->body, "tid", subject->ref);
    payment_json_end(&call->body);
}

/* cancel_available_amount makes the provider refuse the second of two equal calls. */
static void ask_cancel(const struct payment_shop *shop, const struct payment_subject *subject,
                       const struct payment_money *money, int64_t before, struct payment_call *call)
{
    begin(call, "cancel", shop);
    payment_json_add(&call->body, "tid", subject->ref);
    payment_json_add_int(&call->body, "cancel_amount", money->total);
    payment_json_add_int(&call->body, "cancel_tax_free_amount", money->tax_free);
    payment_json_add_int(&call->body, "cancel_vat_amount", money->vat);
    payment_json_add_int(&call->body, "cancel_available_amount", subject->money.total - before);
    payment_json_end(&call->body);
}

static bool belongs(const struct payment_subject *subject, const struct payment_return *back)
{
    (void)subject;
    return payment_is_word(back->pg_token, PG_TOKEN_MAX);
}

static const struct error_row *find_error(int code)
{
    for (size_t i = 0; i < sizeof(ERRORS) / sizeof(ERRORS[0]); i++) {
        if (ERRORS[i].code == code) {
            return &ERRORS[i];
        }
    }
    return NULL;
}

/* Judges a response other than 200. Error codes come with status 400 only: with any other status a
 * number means nothing. */
static struct payment_verdict judge_error(struct arena *arena, const struct payment_reply *reply)
{
    char detail[PAYMENT_DETAIL_MAX];
    struct str method = STR("");
    int code;

    if (reply->status == HTTP_UNAUTHORIZED) {
        return payment_refused(arena, PAYMENT_REFUSAL_MISCONFIGURED, "HTTP 401");
    }
    json_object *object = reply->status == 400 ? payment_json_parse(arena, reply->body) : NULL;
    if (object == NULL || !payment_json_int(object, "error_code", &code)) {
        (void)snprintf(detail, sizeof(detail), "HTTP %ld", reply->status);
        return payment_unknown(arena, false, detail);
    }
    json_object *extras = payment_json_object(object, "extras");
    if (extras != NULL) {
        (void)payment_json_word(arena, extras, "method_result_code", METHOD_CODE_MAX, &method);
    }
    (void)snprintf(detail, sizeof(detail), "%d%s%.*s", code, method.n > 0 ? " " : "",
                   STR_ARG(method));
    const struct error_row *row = find_error(code);
    return row != NULL && row->meaning == MEANS_REFUSED
               ? payment_refused(arena, row->refusal, detail)
               : payment_unknown(arena, true, detail);
}

static struct payment_verdict read_ready(struct arena *arena, const struct payment_subject *subject,
                                         const struct payment_offer *offer,
                                         const struct payment_reply *reply,
                                         struct payment_session *session)
{
    const char *page = offer->mobile ? "next_redirect_mobile_url" : "next_redirect_pc_url";

    (void)subject;
    if (reply->status != HTTP_OK) {
        return judge_error(arena, reply);
    }
    json_object *object = payment_json_parse(arena, reply->body);
    if (object == NULL ||
        !payment_json_word(arena, object, "tid", PAYMENT_REF_MAX, &session->ref) ||
        !payment_json_word(arena, object, page, PAYMENT_REDIRECT_URL_MAX, &session->redirect_url)) {
        return payment_unknown(arena, true, "ready without tid and page");
    }
    return payment_done();
}

/* Reads what approve, cancel and order have in common: which payment, and its amount. */
static bool read_common(struct arena *arena, const struct payment_subject *subject,
                        json_object *object, struct payment_state *state)
{
    json_object *amount = object == NULL ? NULL : payment_json_object(object, "amount");

    if (amount == NULL || !payment_json_word(arena, object, "tid", PAYMENT_REF_MAX, &state->ref) ||
        !payment_json_word(arena, object, "partner_order_id", PAYMENT_ID_MAX, &state->id) ||
        !payment_json_amount(amount, "total", &state->total)) {
        return false;
    }
    state->currency = STR("KRW");
    state->left = payment_left_unreported();
    state->approved_ms = payment_json_time(object, "approved_at");
    state->canceled_ms = payment_json_time(object, "canceled_at");
    return str_equal(state->ref, subject->ref) && str_equal(state->id, subject->id);
}

static struct payment_verdict read_approve(struct arena *arena,
                                           const struct payment_subject *subject,
                                           const struct payment_reply *reply,
                                           struct payment_state *state)
{
    if (reply->status != HTTP_OK) {
        return judge_error(arena, reply);
    }
    *state = (struct payment_state){.standing = PAYMENT_STANDS_PAID};
    if (!read_common(arena, subject, payment_json_parse(arena, reply->body), state)) {
        return payment_unknown(arena, true, "approve that does not fit");
    }
    return payment_done();
}

static void read_left(json_object *object, struct payment_state *state)
{
    json_object *amount = payment_json_object(object, "cancel_available_amount");
    struct payment_money left;

    if (amount != NULL && payment_json_amount(amount, "total", &left.total) &&
        payment_json_amount(amount, "tax_free", &left.tax_free) &&
        payment_json_amount(amount, "vat", &left.vat)) {
        payment_state_set_left(state, &left);
    }
}

static bool read_standing(struct arena *arena, json_object *object, struct payment_state *state)
{
    json_object *canceled = payment_json_object(object, "canceled_amount");
    struct str status;

    if (!payment_json_word(arena, object, "status", STATUS_MAX, &status) ||
        (canceled != NULL && !payment_json_amount(canceled, "total", &state->canceled))) {
        return false;
    }
    read_left(object, state);
    for (size_t i = 0; i < sizeof(STATUS) / sizeof(STATUS[0]); i++) {
        if (str_equal(status, str_of(STATUS[i].name))) {
            state->standing = STATUS[i].standing;
            return payment_state_adds_up(state);
        }
    }
    return false;
}

/* Reads a response to order or cancel. */
static struct payment_verdict read_state(struct arena *arena, const struct payment_subject *subject,
                                         const struct payment_reply *reply,
                                         struct payment_state *state)
{
    *state = (struct payment_state){.standing = PAYMENT_STANDS_OPEN};
    json_object *object = payment_json_parse(arena, reply->body);
    if (!read_common(arena, subject, object, state) || !read_standing(arena, object, state)) {
        return payment_unknown(arena, true, "a state that does not fit");
    }
    return payment_done();
}

static struct payment_verdict read_lookup(struct arena *arena,
                                          const struct payment_subject *subject,
                                          const struct payment_reply *reply,
                                          struct payment_state *state)
{
    if (reply->status == HTTP_OK) {
        return read_state(arena, subject, reply, state);
    }
    return payment_lookup_refused(judge_error(arena, reply));
}

static struct payment_verdict read_cancel(struct arena *arena,
                                          const struct payment_subject *subject,
                                          const struct payment_reply *reply,
                                          struct payment_state *state)
{
    if (reply->status != HTTP_OK) {
        return judge_error(arena, reply);
    }
    return payment_cancel_answered(arena, read_state(arena, subject, reply, state), state);
}

const struct payment_adapter kakaopay_adapter = {
    .name = "kakaopay",
    .base_url = "https://open-api.kakaopay.com",
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
};
