#include "lib/payments/payment_provider.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/http_client/http_client.h"
#include "lib/identity/text_secret.h"
#include "lib/metrics/metrics.h"
#include "lib/payments/payment_adapter.h"
#include "lib/payments/payment_settings.h"

enum {
    ANSWER_MAX = 64 * 1024, /* head and body */
    PATH_MAX_BYTES = 1024,
    BODY_MAX = 16 * 1024,
    ONCE_MAX = 300, /* of an Idempotency-Key, as Toss wants it */
    AUTHORIZATION_MAX = 1024
};

_Static_assert((int)TEXT_SECRET_ERROR <= (int)PAYMENT_PROVIDER_ERROR &&
                   (int)HTTP_CLIENT_ERROR <= (int)PAYMENT_PROVIDER_ERROR,
               "their sentences are written into ours");

static const struct payment_adapter *const ADAPTERS[] = {&kakaopay_adapter, &toss_adapter};

struct payment_provider {
    const struct payment_adapter *adapter;
    struct http_client *client;
    struct payment_shop shop;
    struct text_secret key;
};

static const struct payment_adapter *find_adapter(const char *name)
{
    for (size_t i = 0; i < sizeof(ADAPTERS) / sizeof(ADAPTERS[0]); i++) {
        if (strcmp(ADAPTERS[i]->name, name) == 0) {
            return ADAPTERS[i];
        }
    }
    return NULL;
}

static bool open_parts(struct payment_provider *provider, const struct settings *settings,
                       char error[PAYMENT_PROVIDER_ERROR])
{
    const char *url = settings->payment_base_url;

    provider->client = http_client_open(
        &(struct http_client_options){.url = url[0] != '\0' ? url : provider->adapter->base_url,
                                      .connect_timeout_ms = settings->payment_connect_timeout_ms,
                                      .timeout_ms = settings->payment_timeout_ms,
                                      .answer_max = ANSWER_MAX,
                                      .fresh = true,
                                      .direct = true},
        error);
    return provider->client != NULL &&
           payment_settings_fit(settings, http_client_is_local(provider->client), error) &&
           text_secret_open(&provider->key, settings->payment_secret_key_file, error);
}

bool payment_provider_open(const struct settings *settings, struct payment_provider **provider,
                           char error[PAYMENT_PROVIDER_ERROR])
{
    *provider = NULL;
    if (strcmp(settings->payment_provider, "none") == 0) {
        return true;
    }
    struct payment_provider *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        abort();
    }
    made->adapter = find_adapter(settings->payment_provider);
    made->shop = (struct payment_shop){.cid = str_of(settings->payment_cid)};
    if (made->adapter == NULL) {
        abort(); /* the setting allows exactly the names of ADAPTERS */
    }
    if (!open_parts(made, settings, error)) {
        payment_provider_close(made);
        return false;
    }
    *provider = made;
    return true;
}

void payment_provider_close(struct payment_provider *provider)
{
    if (provider != NULL) {
        http_client_close(provider->client);
        text_secret_close(&provider->key);
        free(provider);
    }
}

const char *payment_provider_name(const struct payment_provider *provider)
{
    return provider->adapter->name;
}

static void call_begin(struct payment_call *call)
{
    *call = (struct payment_call){.method = "POST"};
    buffer_init(&call->path, PATH_MAX_BYTES);
    buffer_init(&call->body, BODY_MAX);
    buffer_init(&call->once, ONCE_MAX);
}

static void call_end(struct payment_call *call)
{
    if (call->body.length > 0) {
        OPENSSL_cleanse(call->body.bytes, call->body.length); /* it has a pg_token */
    }
    buffer_free(&call->path);
    buffer_free(&call->body);
    buffer_free(&call->once);
}

/* Sends a call with our key; the response's body goes into `body`. */
static struct http_answer send_call(struct payment_provider *provider,
                                    const struct payment_call *call, struct buffer *body)
{
    struct http_header headers[4];
    size_t count = 0;
    struct buffer authorization;

    buffer_init(&authorization, AUTHORIZATION_MAX);
    provider->adapter->authorize(text_secret_now(&provider->key), &authorization);
    headers[count++] =
        (struct http_header){.name = "Authorization", .value = buffer_text(&authorization)};
    headers[count++] = (struct http_header){.name = "Accept", .value = STR("application/json")};
    if (call->body.length > 0) {
        headers[count++] =
            (struct http_header){.name = "Content-Type", .value = STR("application/json")};
    }
    if (call->once.length > 0) {
        headers[count++] =
            (struct http_header){.name = "Idempotency-Key", .value = buffer_text(&call->once)};
    }
    const struct http_request request = {.method = call->method,
                                         .path = buffer_text(&call->path),
                                         .headers = headers,
                                         .header_count = count,
                                         .body = buffer_text(&call->body)};
    int64_t sent_us = clock_monotonic_us();
    struct http_answer answer = http_client_send(provider->client, &request, body);
    metrics_observe_us(HISTOGRAM_PROVIDER_CALL, clock_monotonic_us() - sent_us);
    if (authorization.length > 0) {
        OPENSSL_cleanse(authorization.bytes, authorization.length);
    }
    buffer_free(&authorization);
    return answer;
}

/* Sends a call and releases it. Returns the response; NULL, with the verdict, if there is
 * none. */
static const struct payment_reply *exchange(struct payment_provider *provider, struct arena *arena,
                                            struct payment_call *call,
                                            struct payment_verdict *verdict)
{
    struct payment_reply *reply = NULL;
    struct buffer body;
    struct http_answer answer = {.outcome = HTTP_NOT_SENT, .why = "the call is too large"};

    buffer_init(&body, ANSWER_MAX);
    if (buffer_ok(&call->path) && buffer_ok(&call->body) && buffer_ok(&call->once)) {
        answer = send_call(provider, call, &body);
    }
    if (answer.outcome == HTTP_ANSWERED) {
        struct str text = buffer_text(&body);
        reply = arena_alloc(arena, sizeof(*reply));
        *reply = (struct payment_reply){.status = answer.status,
                                        .body = str_sized(arena_copy(arena, text), text.n)};
    } else {
        *verdict = answer.outcome == HTTP_NOT_SENT ? payment_not_sent(arena, answer.why)
                                                   : payment_unknown(arena, false, answer.why);
    }
    buffer_free(&body);
    call_end(call);
    return reply;
}

/* Counts a call and logs it: as a warning if operators should see it, else only at level
 * debug. */
static struct payment_verdict logged(const char *call, const struct payment_subject *subject,
                                     struct payment_verdict verdict)
{
    static const char *const OUTCOMES[] = {[PAYMENT_OK] = "ok",
                                           [PAYMENT_REJECTED] = "rejected",
                                           [PAYMENT_NOT_SENT] = "not sent",
                                           [PAYMENT_UNKNOWN] = "unknown"};
    static const enum metric METRICS[] = {[PAYMENT_OK] = METRIC_PROVIDER_OK,
                                          [PAYMENT_REJECTED] = METRIC_PROVIDER_REJECTED,
                                          [PAYMENT_NOT_SENT] = METRIC_PROVIDER_NOT_SENT,
                                          [PAYMENT_UNKNOWN] = METRIC_PROVIDER_UNKNOWN};
    bool is_news = verdict.outcome == PAYMENT_NOT_SENT || verdict.outcome == PAYMENT_UNKNOWN ||
                   verdict.refusal == PAYMENT_REFUSAL_MISCONFIGURED ||
                   verdict.refusal == PAYMENT_REFUSAL_MISMATCH ||
                   verdict.refusal == PAYMENT_REFUSAL_AMOUNT;

    metrics_add(METRICS[verdict.outcome], 1);
    log_event(is_news ? LOG_LEVEL_WARNING : LOG_LEVEL_DEBUG, "payment.provider",
              LOG_FIELDS(LOG_TEXT("call", call), LOG_STR("payment", subject->id),
                         LOG_TEXT("outcome", OUTCOMES[verdict.outcome]),
                         LOG_STR("detail", verdict.detail)));
    return verdict;
}

/* At most PAYMENT_ITEM_NAME_MAX characters of UTF-8. */
static struct str cut_name(struct str name)
{
    size_t characters = 0;

    for (size_t i = 0; i < name.n; i++) {
        bool begins = ((unsigned char)name.p[i] & 0xc0) != 0x80;
        if (begins && ++characters > PAYMENT_ITEM_NAME_MAX) {
            return str_sized(name.p, i);
        }
    }
    return name;
}

/* Why an offer is not possible at all; NULL if it is. */
static const char *unsupported(const struct payment_subject *subject,
                               const struct payment_offer *offer)
{
    if (!str_equal(subject->currency, STR("KRW"))) {
        return "another currency than KRW";
    }
    if (subject->money.total < 1) {
        return "nothing to pay";
    }
    if (offer->approve_url.n > PAYMENT_RETURN_URL_MAX ||
        offer->cancel_url.n > PAYMENT_RETURN_URL_MAX ||
        offer->fail_url.n > PAYMENT_RETURN_URL_MAX) {
        return "a return address that is too long";
    }
    return NULL;
}

struct payment_verdict payment_provider_ready(struct payment_provider *provider,
                                              struct arena *arena,
                                              const struct payment_subject *subject,
                                              const struct payment_offer *offer,
                                              struct payment_session *session)
{
    const char *why = unsupported(subject, offer);
    struct payment_offer cut = *offer;
    struct payment_verdict verdict;
    struct payment_call call;

    if (why != NULL) {
        return logged("ready", subject, payment_refused(arena, PAYMENT_REFUSAL_UNSUPPORTED, why));
    }
    cut.item_name = cut_name(offer->item_name);
    call_begin(&call);
    provider->adapter->ask_ready(&provider->shop, subject, &cut, &call);
    const struct payment_reply *reply = exchange(provider, arena, &call, &verdict);
    if (reply != NULL) {
        verdict = provider->adapter->read_ready(arena, subject, offer, reply, session);
        if (verdict.outcome == PAYMENT_OK &&
            !payment_redirect_is_good(session->redirect_url,
                                      http_client_is_local(provider->client))) {
            verdict = payment_unknown(arena, true, "a page to which nobody may be sent");
        }
    }
    return logged("ready", subject, verdict);
}

struct payment_verdict payment_provider_approve(struct payment_provider *provider,
                                                struct arena *arena,
                                                const struct payment_subject *subject,
                                                const struct payment_return *back, int64_t attempt,
                                                struct payment_state *state)
{
    struct payment_verdict verdict;
    struct payment_call call;

    if (!provider->adapter->belongs(subject, back)) {
        return logged("approve", subject,
                      payment_refused(arena, PAYMENT_REFUSAL_MISMATCH,
                                      "what the browser brought is not of this payment"));
    }
    call_begin(&call);
    provider->adapter->ask_approve(&provider->shop, subject, back, attempt, &call);
    const struct payment_reply *reply = exchange(provider, arena, &call, &verdict);
    if (reply != NULL) {
        verdict = provider->adapter->read_approve(arena, subject, reply, state);
    }
    return logged("approve", subject, verdict);
}

struct payment_verdict payment_provider_lookup(struct payment_provider *provider,
                                               struct arena *arena,
                                               const struct payment_subject *subject,
                                               struct payment_state *state)
{
    struct payment_verdict verdict;
    struct payment_call call;

    call_begin(&call);
    provider->adapter->ask_lookup(&provider->shop, subject, &call);
    const struct payment_reply *reply = exchange(provider, arena, &call, &verdict);
    if (reply != NULL) {
        verdict = provider->adapter->read_lookup(arena, subject, reply, state);
    }
    return logged("lookup", subject, verdict);
}

struct payment_verdict payment_provider_cancel(struct payment_provider *provider,
                                               struct arena *arena,
                                               const struct payment_subject *subject,
                                               const struct payment_money *money, int64_t before,
                                               struct payment_state *state)
{
    struct payment_verdict verdict;
    struct payment_call call;

    call_begin(&call);
    provider->adapter->ask_cancel(&provider->shop, subject, money, before, &call);
    const struct payment_reply *reply = exchange(provider, arena, &call, &verdict);
    if (reply != NULL) {
        verdict = provider->adapter->read_cancel(arena, subject, reply, state);
    }
    return logged("cancel", subject, verdict);
}

enum payment_notice_outcome payment_provider_notice(const struct payment_provider *provider,
                                                    struct arena *arena, struct str body,
                                                    struct payment_hint *hint)
{
    return provider->adapter->notice == NULL ? PAYMENT_NOTICE_NONE
                                             : provider->adapter->notice(arena, body, hint);
}
