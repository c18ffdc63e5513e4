/*
 * payment_adapter — the protocol of one provider: how a call is written and what its response
 * means. An adapter does no I/O: payment_provider.c sends what it writes. Internal to lib/payments.
 */
#ifndef SLUICE_PAYMENTS_PAYMENT_ADAPTER_H
#define SLUICE_PAYMENTS_PAYMENT_ADAPTER_H

#include <stdbool.h>

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/str.h"
#include "lib/payments/payment_provider.h"

/** Our identity at the provider. */
struct payment_shop {
    struct str cid; /* KakaoPay */
};

/** A call to be sent. The buffers are owned by the sender. */
struct payment_call {
    const char *method;
    struct buffer path;
    struct buffer body; /* JSON; empty for GET */
    struct buffer once; /* Idempotency-Key; empty: none */
};

/** A complete response, whatever its status. */
struct payment_reply {
    long status;
    struct str body;
};

struct payment_adapter {
    const char *name;
    const char *base_url;

    /** Writes the value of the Authorization header. */
    void (*authorize)(struct str secret, struct buffer *out);

    /** Write a call. */
    void (*ask_ready)(const struct payment_shop *shop, const struct payment_subject *subject,
                      const struct payment_offer *offer, struct payment_call *call);
    void (*ask_approve)(const struct payment_shop *shop, const struct payment_subject *subject,
                        const struct payment_return *back, int64_t attempt,
                        struct payment_call *call);
    void (*ask_lookup)(const struct payment_shop *shop, const struct payment_subject *subject,
                       struct payment_call *call);
    void (*ask_cancel)(const struct payment_shop *shop, const struct payment_subject *subject,
                       const struct payment_money *money, int64_t before,
                       struct payment_call *call);

    /** False if the return parameters cannot belong to this payment. */
    bool (*belongs)(const struct payment_subject *subject, const struct payment_return *back);

    /** Read a response. `offer` selects among several pages. */
    struct payment_verdict (*read_ready)(struct arena *arena, const struct payment_subject *subject,
                                         const struct payment_offer *offer,
                                         const struct payment_reply *reply,
                                         struct payment_session *session);
    struct payment_verdict (*read_approve)(struct arena *arena,
                                           const struct payment_subject *subject,
                                           const struct payment_reply *reply,
                                           struct payment_state *state);
    struct payment_verdict (*read_lookup)(struct arena *arena,
                                          const struct payment_subject *subject,
                                          const struct payment_reply *reply,
                                          struct payment_state *state);
    struct payment_verdict (*read_cancel)(struct arena *arena,
                                          const struct payment_subject *subject,
                                          const struct payment_reply *reply,
                                          struct payment_state *state);

    /** Reads the body of a webhook call; NULL if the provider makes none. */
    enum payment_notice_outcome (*notice)(struct arena *arena, struct str body,
                                          struct payment_hint *hint);
};

extern const struct payment_adapter kakaopay_adapter;
extern const struct payment_adapter toss_adapter;

/** Verdicts. `detail` is copied to the arena; unprintable bytes become '?'. */
struct payment_verdict payment_done(void);
struct payment_verdict payment_refused(struct arena *arena, enum payment_refusal refusal,
                                       const char *detail);
struct payment_verdict payment_not_sent(struct arena *arena, const char *detail);
struct payment_verdict payment_unknown(struct arena *arena, bool answered, const char *detail);

/** The verdict of a look-up that was answered by an error: of refusals only "no such payment" and
 *  "misconfigured" count; any other one becomes unknown. */
struct payment_verdict payment_lookup_refused(struct payment_verdict verdict);

/** The verdict of a cancel call that left the payment in `state`: unknown if nothing was
 *  refunded. */
struct payment_verdict payment_cancel_answered(struct arena *arena, struct payment_verdict verdict,
                                               const struct payment_state *state);

/** False if the amounts contradict the standing. */
bool payment_state_adds_up(const struct payment_state *state);

/** For `left` of a payment of which the provider reports nothing. */
struct payment_money payment_left_unreported(void);

/** Sets `left` to what the provider reports as left; to "not reported" if it does not fit `total` and
 *  `canceled`. */
void payment_state_set_left(struct payment_state *state, const struct payment_money *left);

#endif
