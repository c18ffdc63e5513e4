/*
 * Webhooks of Toss Payments. First line: the signature; second: the time of transmission; the rest:
 * the body. What is signed by us is read like what nobody has to sign, and what is not is forged.
 */
#include "lib/payments/toss_webhook.h"

#include <string.h>

#include "lib/base/digest.h"
#include "tests/fuzz/fuzz.h"

static void is_word(struct str text, size_t most)
{
    REQUIRE(text.n <= most);
    for (size_t i = 0; i < text.n; i++) {
        REQUIRE(text.p[i] > 0x20 && text.p[i] <= 0x7e);
    }
}

static enum payment_notice_outcome
read_notice(struct arena *arena, const struct payment_notice *notice, struct str secret)
{
    struct payment_hint hint;
    enum payment_notice_outcome outcome = toss_notice(arena, notice, secret, &hint);

    REQUIRE(outcome != PAYMENT_NOTICE_NONE);
    if (outcome == PAYMENT_NOTICE_HINT) {
        REQUIRE(hint.ref.n + hint.id.n > 0);
        is_word(hint.ref, PAYMENT_REF_MAX);
        is_word(hint.id, PAYMENT_ID_MAX);
    }
    return outcome;
}

/* The right signature behind some others. */
static struct str sign(struct arena *arena, const struct payment_notice *notice, struct str secret)
{
    unsigned char mac[SHA256_BYTES];
    struct buffer text;

    buffer_init(&text, notice->body.n + notice->transmission.n + 128);
    buffer_add(&text, notice->body);
    buffer_add_char(&text, ':');
    buffer_add(&text, notice->transmission);
    hmac_sha256(secret, buffer_text(&text), mac);
    buffer_clear(&text);
    buffer_add(&text, STR("v1:AAAA, "));
    toss_base64(&text, mac, sizeof(mac));
    struct str copy = str_sized(arena_copy(arena, buffer_text(&text)), text.length);
    buffer_free(&text);
    return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct str SECRET = {"whsec", 5};
    struct arena *arena = fuzz_arena();
    struct str rest = fuzz_text(data, size);
    struct payment_notice notice = {.signature = fuzz_line(arena, &rest)};

    notice.transmission = fuzz_line(arena, &rest);
    notice.body = rest;
    enum payment_notice_outcome unsigned_outcome = read_notice(arena, &notice, STR(""));
    REQUIRE(unsigned_outcome != PAYMENT_NOTICE_FORGED);
    REQUIRE(read_notice(arena, &notice, SECRET) == PAYMENT_NOTICE_FORGED);
    notice.signature = sign(arena, &notice, SECRET);
    REQUIRE(read_notice(arena, &notice, SECRET) ==
            (notice.transmission.n > 64 ? PAYMENT_NOTICE_FORGED : unsigned_outcome));
    return 0;
}
