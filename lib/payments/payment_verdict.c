#include <string.h>

#include "lib/payments/payment_adapter.h"

/* Text for logs and tables: bounded, printable ASCII only. */
static struct str detail_text(struct arena *arena, const char *detail)
{
    size_t n = strnlen(detail, PAYMENT_DETAIL_MAX);
    char *text = arena_copy(arena, str_sized(detail, n));

    for (size_t i = 0; i < n; i++) {
        if (text[i] < 0x20 || text[i] > 0x7e) {
            text[i] = '?';
        }
    }
    return str_sized(text, n);
}

struct payment_verdict payment_done(void)
{
    return (struct payment_verdict){.outcome = PAYMENT_OK};
}

struct payment_verdict payment_refused(struct arena *arena, enum payment_refusal refusal,
                                       const char *detail)
{
    return (struct payment_verdict){
        .outcome = PAYMENT_REJECTED, .refusal = refusal, .detail = detail_text(arena, detail)};
}

struct payment_verdict payment_not_sent(struct arena *arena, const char *detail)
{
    return (struct payment_verdict){.outcome = PAYMENT_NOT_SENT,
                                    .detail = detail_text(arena, detail)};
}

struct payment_verdict payment_unknown(struct arena *arena, bool answered, const char *detail)
{
    return (struct payment_verdict){
        .outcome = PAYMENT_UNKNOWN, .answered = answered, .detail = detail_text(arena, detail)};
}

struct payment_verdict payment_lookup_refused(struct payment_verdict verdict)
{
    if (verdict.outcome == PAYMENT_REJECTED && verdict.refusal != PAYMENT_REFUSAL_NO_SUCH &&
        verdict.refusal != PAYMENT_REFUSAL_MISCONFIGURED) {
        return (struct payment_verdict){.outcome = PAYMENT_UNKNOWN, .detail = verdict.detail};
    }
    return verdict;
}

struct payment_verdict payment_cancel_answered(struct arena *arena, struct payment_verdict verdict,
                                               const struct payment_state *state)
{
    if (verdict.outcome == PAYMENT_OK && state->canceled == 0) {
        return payment_unknown(arena, true, "a cancel that gave nothing back");
    }
    return verdict;
}

bool payment_state_adds_up(const struct payment_state *state)
{
    switch (state->standing) {
    case PAYMENT_STANDS_PARTLY_CANCELED:
        return state->canceled > 0 && state->canceled < state->total;
    case PAYMENT_STANDS_CANCELED:
        return state->canceled == state->total;
    case PAYMENT_STANDS_OPEN:
    case PAYMENT_STANDS_PAID:
    case PAYMENT_STANDS_FAILED:
    case PAYMENT_STANDS_EXPIRED:
        break;
    }
    return state->canceled == 0;
}

struct payment_money payment_left_unreported(void)
{
    return (struct payment_money){.total = -1};
}

void payment_state_set_left(struct payment_state *state, const struct payment_money *left)
{
    bool fits = left->total == state->total - state->canceled && left->tax_free >= 0 &&
                left->vat >= 0 && left->tax_free <= left->total &&
                left->vat <= left->total - left->tax_free;

    state->left = fits ? *left : payment_left_unreported();
}

int64_t payment_vat(int64_t total, int64_t tax_free)
{
    enum { PARTS = 11 };

    /* Does not overflow for a total up to 2^53. */
    return ((total - tax_free) * 2 + PARTS) / (2 * PARTS);
}
