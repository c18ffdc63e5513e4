/* Webhooks of Toss Payments: the input is the body. */
#include "lib/payments/toss_webhook.h"

#include "tests/fuzz/fuzz.h"

static void is_word(struct str text, size_t most)
{
    REQUIRE(text.n <= most);
    for (size_t i = 0; i < text.n; i++) {
        REQUIRE(text.p[i] > 0x20 && text.p[i] <= 0x7e);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct payment_hint hint;
    enum payment_notice_outcome outcome = toss_notice(fuzz_arena(), fuzz_text(data, size), &hint);

    REQUIRE(outcome != PAYMENT_NOTICE_NONE);
    if (outcome == PAYMENT_NOTICE_HINT) {
        REQUIRE(hint.ref.n + hint.id.n > 0);
        is_word(hint.ref, PAYMENT_REF_MAX);
        is_word(hint.id, PAYMENT_ID_MAX);
    }
    return 0;
}
