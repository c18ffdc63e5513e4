/*
 * payment_adapter — one provider's language: how a call is written, and what its answer means. No
 * adapter speaks to anybody: payment_provider.c sends what is written here. Used inside of
 * lib/payments only.
 */
#ifndef SLUICE_PAYMENTS_PAYMENT_ADAPTER_H
#define SLUICE_PAYMENTS_PAYMENT_ADAPTER_H

#include <stdbool.h>

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/str.h"
#include "lib/payments/payment_provider.h"

/** Who we are there. */
struct payment_shop {
    struct str cid; /* KakaoPay */
};

/** A call to be sent. The buffers are the sender's. */
struct payment_call {
    const char *method;
    struct buffer path;
    struct buffer body; /* JSON; empty for GET */
    struct buffer once; /* Idempotency-Key; empty: none */
};

/** A whole answer, whatever its status. */
struct payment_reply {
    long status;
    struct str body;
};

struct payment_adapter {
    const char *name;
    const char *base_url;

    /** Writes the value of the header Authorization. */
    void (*authorize)(struct str secret, struct buffer *out);

    /** Write a call. */
    void (*ask_ready)(const struct payment_shop *shop, const struct payment_subject *subject,
                      const struct payment_offer *offer, struct payment_call *call);
    void (*ask_approve)(const struct payment_shop *shop, const struct payment_subject *subject,
                        const struct payment_return *back, struct payment_call *call);
    void (*ask_lookup)(const struct payment_shop *shop, const struct payment_subject *subject,
                       struct payment_call *call);
    void (*ask_cancel)(const struct payment_shop *shop, const struct payment_subject *subject,
                       const struct payment_money *money, int64_t before,
                       struct payment_call *call);

    /** False where what the browser brought cannot be of this payment. */
    bool (*belongs)(const struct payment_subject *subject, const struct payment_return *back);

    /** Read an answer. `offer` says which of several pages is wanted. */
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

    /** Reads a webhook call; NULL where the provider makes none. `secret` is empty where none is
     *  set. */
    enum payment_notice_outcome (*notice)(struct arena *arena, const struct payment_notice *notice,
                                          struct str secret, struct payment_hint *hint);
};

extern const struct payment_adapter kakaopay_adapter;
extern const struct payment_adapter toss_adapter;

/** Verdicts. `detail` is copied to the arena; what is not printable in it becomes '?'. */
struct payment_verdict payment_done(void);
struct payment_verdict payment_refused(struct arena *arena, enum payment_refusal refusal,
                                       const char *detail);
struct payment_verdict payment_not_sent(struct arena *arena, const char *detail);
struct payment_verdict payment_unknown(struct arena *arena, bool answered, const char *detail);

/** `verdict` of an answer to a look-up that is an error: of refusals only "no such payment" and
 *  "misconfigured" say anything about the payment; after any other one it is unknown. */
struct payment_verdict payment_lookup_refused(struct payment_verdict verdict);

/** `verdict` of an answer to a cancel that left the payment in `state`: unknown where nothing
 *  was given back. */
struct payment_verdict payment_cancel_answered(struct arena *arena, struct payment_verdict verdict,
                                               const struct payment_state *state);

/** Puts amounts and standing together; false where they contradict each other. */
bool payment_state_adds_up(const struct payment_state *state);

#endif
