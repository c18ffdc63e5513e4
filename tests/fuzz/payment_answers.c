/*
 * Answers of payment providers. First line: kakaopay or toss; second: the status; the rest: the
 * body, which is read as the answer to every call.
 */
#include "lib/payments/payment_adapter.h"
#include "tests/fuzz/fuzz.h"

#define REF "T1234567890123456789"
#define ID  "p_0123456789abcdefghijkl"

static const struct payment_subject SUBJECT = {
    .id = {ID, sizeof(ID) - 1},
    .payer = {"member-1", 8},
    .ref = {REF, sizeof(REF) - 1},
    .money = {.total = 2200, .tax_free = 0, .vat = 200},
    .currency = {"KRW", 3},
};

static void is_printable(struct str text, size_t most)
{
    REQUIRE(text.n <= most);
    for (size_t i = 0; i < text.n; i++) {
        REQUIRE(text.p[i] >= 0x20 && text.p[i] <= 0x7e);
    }
}

static void is_verdict(const struct payment_verdict *verdict, const struct payment_reply *reply)
{
    is_printable(verdict->detail, PAYMENT_DETAIL_MAX);
    REQUIRE(verdict->outcome != PAYMENT_NOT_SENT);
    REQUIRE((verdict->outcome == PAYMENT_REJECTED) == (verdict->refusal != PAYMENT_REFUSAL_NONE));
    REQUIRE(verdict->outcome != PAYMENT_OK || reply->status == 200);
    REQUIRE(verdict->outcome != PAYMENT_REJECTED || (reply->status >= 400 && reply->status < 500));
}

/* A state that is believed is of this payment and does not contradict itself. */
static void is_state(const struct payment_verdict *verdict, const struct payment_reply *reply,
                     const struct payment_state *state)
{
    is_verdict(verdict, reply);
    if (verdict->outcome != PAYMENT_OK) {
        return;
    }
    REQUIRE(str_equal(state->id, SUBJECT.id));
    is_printable(state->ref, PAYMENT_REF_MAX);
    is_printable(state->currency, 3);
    REQUIRE(state->total >= 0 && state->total < (int64_t)1 << 53);
    REQUIRE(state->canceled >= 0 && state->canceled <= state->total);
    REQUIRE(payment_state_adds_up(state));
}

static void reads(const struct payment_adapter *adapter, struct arena *arena,
                  const struct payment_reply *reply)
{
    struct payment_session session = {.ref = STR("")};
    struct payment_state state;
    struct payment_verdict verdict;

    for (int mobile = 0; mobile < 2; mobile++) {
        const struct payment_offer offer = {.mobile = mobile == 1};
        verdict = adapter->read_ready(arena, &SUBJECT, &offer, reply, &session);
        is_verdict(&verdict, reply);
        if (verdict.outcome == PAYMENT_OK) {
            REQUIRE(session.ref.n >= 1 && session.redirect_url.n >= 1);
            is_printable(session.ref, PAYMENT_REF_MAX);
            is_printable(session.redirect_url, PAYMENT_REDIRECT_URL_MAX);
        }
    }
    verdict = adapter->read_approve(arena, &SUBJECT, reply, &state);
    is_state(&verdict, reply, &state);
    verdict = adapter->read_lookup(arena, &SUBJECT, reply, &state);
    is_state(&verdict, reply, &state);
    verdict = adapter->read_cancel(arena, &SUBJECT, reply, &state);
    is_state(&verdict, reply, &state);
    REQUIRE(verdict.outcome != PAYMENT_OK || state.canceled > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = fuzz_arena();
    struct str rest = fuzz_text(data, size);
    bool toss = str_equal(fuzz_line(arena, &rest), STR("toss"));
    struct payment_reply reply = {.status = (long)fuzz_number(arena, &rest)};

    reply.body = rest;
    reads(toss ? &toss_adapter : &kakaopay_adapter, arena, &reply);
    return 0;
}
