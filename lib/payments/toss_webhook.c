#include "lib/payments/toss_webhook.h"

#include <stdlib.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "lib/base/digest.h"
#include "lib/payments/payment_json.h"

enum { EVENT_MAX = 64, BASE64_SHA256 = 44, SIGNATURES_MAX = 8, TRANSMISSION_MAX = 64 };

void toss_base64(struct buffer *out, const void *bytes, size_t n)
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

/* `v1:` and signatures separated by commas, each the HMAC of "body:transmission time": one match
 * suffices. */
static bool is_signed(const struct payment_notice *notice, struct str secret)
{
    unsigned char mac[SHA256_BYTES];
    struct buffer text;
    struct str rest = notice->signature;
    struct str one;
    bool good = false;

    if (!str_starts(rest, STR("v1:")) || notice->transmission.n > TRANSMISSION_MAX) {
        return false;
    }
    rest = str_sized(rest.p + 3, rest.n - 3);
    buffer_init(&text, notice->body.n + TRANSMISSION_MAX + 1 + BASE64_SHA256);
    buffer_add(&text, notice->body);
    buffer_add_char(&text, ':');
    buffer_add(&text, notice->transmission);
    hmac_sha256(secret, buffer_text(&text), mac);
    buffer_clear(&text);
    toss_base64(&text, mac, sizeof(mac));
    for (int i = 0; i < SIGNATURES_MAX && rest.n > 0; i++) {
        (void)str_split(rest, ',', &one, &rest);
        good = constant_time_equal(str_trim(one), buffer_text(&text)) || good;
    }
    buffer_free(&text);
    return good;
}

enum payment_notice_outcome toss_notice(struct arena *arena, const struct payment_notice *notice,
                                        struct str secret, struct payment_hint *hint)
{
    struct str event;

    *hint = (struct payment_hint){.ref = STR("")};
    if (secret.n > 0 && !is_signed(notice, secret)) {
        return PAYMENT_NOTICE_FORGED;
    }
    json_object *object = payment_json_parse(arena, notice->body);
    if (object == NULL || !payment_json_word(arena, object, "eventType", EVENT_MAX, &event)) {
        return PAYMENT_NOTICE_MALFORMED;
    }
    json_object *data = payment_json_object(object, "data");
    if (data == NULL || !str_equal(event, STR("PAYMENT_STATUS_CHANGED"))) {
        return PAYMENT_NOTICE_OTHER;
    }
    bool found = payment_json_word(arena, data, "paymentKey", PAYMENT_REF_MAX, &hint->ref);
    found = payment_json_word(arena, data, "orderId", PAYMENT_ID_MAX, &hint->id) || found;
    return found ? PAYMENT_NOTICE_HINT : PAYMENT_NOTICE_MALFORMED;
}
