/*
 * payment_provider — the configured payment service provider: ready, approve, look-up, cancel,
 * webhook. Only payment_provider_approve() and payment_provider_cancel() move money. Call none of
 * them within a transaction or while holding row locks: each may block for payment_timeout_ms.
 *
 * Only an explicit answer of the provider counts as yes or no. Any other result of a call that was
 * sent (no response, a partial one, a 5xx, an unexpected one) is PAYMENT_UNKNOWN: look it up.
 *
 * Text arguments are borrowed; text in results lives as long as the arena. No key, token or card
 * data is ever logged or put into a result.
 */
#ifndef SLUICE_PAYMENTS_PAYMENT_PROVIDER_H
#define SLUICE_PAYMENTS_PAYMENT_PROVIDER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/settings/settings.h"

enum {
    PAYMENT_PROVIDER_ERROR = 512,
    PAYMENT_ID_MAX = 64,         /* of our ids at the provider; at least 6 */
    PAYMENT_REF_MAX = 200,       /* tid, paymentKey: printable ASCII without spaces */
    PAYMENT_ITEM_NAME_MAX = 100, /* characters */
    PAYMENT_RETURN_URL_MAX = 255,
    PAYMENT_REDIRECT_URL_MAX = 2048,
    PAYMENT_DETAIL_MAX = 120
};

/** The outcome of a call. */
enum payment_outcome {
    PAYMENT_OK,       /* the provider says that it is done */
    PAYMENT_REJECTED, /* the provider says that it did not happen: see `refusal` */
    PAYMENT_NOT_SENT, /* the provider could not be reached: certainly nothing happened */
    PAYMENT_UNKNOWN   /* it may have happened, or may yet: look it up */
};

/** Why a call was rejected. */
enum payment_refusal {
    PAYMENT_REFUSAL_NONE,
    /* Means of payment, limit, payer: this payment has failed, another one may work. */
    PAYMENT_REFUSAL_DECLINED,
    PAYMENT_REFUSAL_EXPIRED,   /* the session has expired */
    PAYMENT_REFUSAL_TOO_EARLY, /* the payer has not finished there yet: the session stays open */
    /* The return parameters are not of this payment: forged, or a defect; the session stays
     * open. */
    PAYMENT_REFUSAL_MISMATCH,
    PAYMENT_REFUSAL_NO_SUCH, /* the provider does not know this reference */
    PAYMENT_REFUSAL_AMOUNT,  /* the provider does not accept the amount: a defect */
    /* It does not accept our key, shop or address: an operator is needed, and the same call may
     * work later. */
    PAYMENT_REFUSAL_MISCONFIGURED,
    PAYMENT_REFUSAL_UNSUPPORTED /* it cannot do this at all: another currency; nothing was sent */
};

/** The state of a payment at the provider. */
enum payment_standing {
    PAYMENT_STANDS_OPEN,            /* not taken; an approval would still take it */
    PAYMENT_STANDS_PAID,            /* taken, nothing refunded */
    PAYMENT_STANDS_PARTLY_CANCELED, /* taken, a part refunded */
    PAYMENT_STANDS_CANCELED,        /* taken, all refunded */
    PAYMENT_STANDS_FAILED,          /* not taken, and ended: declined, abandoned, aborted */
    PAYMENT_STANDS_EXPIRED          /* not taken, and expired */
};

/** Whole minor units. */
struct payment_money {
    int64_t total;
    int64_t tax_free;
    int64_t vat;
};

/** A payment as both sides identify it. */
struct payment_subject {
    /* Our id of the payment, the provider's "order id" (partner_order_id, orderId): one order
     * may need several payments, each with its own id. */
    struct str id;
    /* The payer (partner_user_id): 1..64 characters of the alphabet of member ids; the same in
     * each call. */
    struct str payer;
    /* The provider's reference (tid, paymentKey); empty only in payment_provider_ready(). */
    struct str ref;
    struct payment_money money;
    struct str currency; /* "KRW" */
};

/** What payment_provider_ready() needs beside the subject. */
struct payment_offer {
    struct str item_name; /* 1..PAYMENT_ITEM_NAME_MAX characters of UTF-8; longer is truncated */
    int64_t quantity;     /* ≥ 1 */
    bool mobile;          /* the browser is a phone's: the provider may have another page for it */
    struct str approve_url; /* these three: where the browser returns, ≤ PAYMENT_RETURN_URL_MAX */
    struct str cancel_url;
    struct str fail_url;
};

/** A session at the provider. */
struct payment_session {
    struct str ref;
    /* https; from a provider on this machine also http, or a path of the same site. */
    struct str redirect_url;
};

/** The query parameters of the return to approve_url, decoded; missing ones are empty. Others are
 *  ignored. */
struct payment_return {
    struct str pg_token;
    struct str payment_key;
    struct str order_id;
    struct str amount;
};

/** The state of a payment as the provider reports it. */
struct payment_state {
    enum payment_standing standing;
    struct str ref;
    struct str id; /* our id of it */
    struct str currency;
    int64_t total;    /* taken, before refunds; while open: to be taken */
    int64_t canceled; /* refunded so far */
    /* What is left to refund, as the provider reports it; total -1: not reported. Of a partial
     * refund only the provider knows which part was tax-free and how its VAT was rounded. */
    struct payment_money left;
    int64_t approved_ms; /* wall time, -1: not reported */
    int64_t canceled_ms; /* likewise, of the last cancel */
};

/** The verdict on a response. `detail`, for support, is the provider's own code ("-780
 *  USER_LOCKED"), or why there is no response; at most PAYMENT_DETAIL_MAX printable ASCII
 *  characters, never a secret. */
struct payment_verdict {
    enum payment_outcome outcome;
    enum payment_refusal refusal; /* for PAYMENT_REJECTED */
    /* For PAYMENT_UNKNOWN: the provider did answer (approved already, another call under way, a
     * state that does not allow it), so a look-up now will tell more. */
    bool answered;
    struct str detail;
};

struct payment_provider;

/** Opens the provider of the settings payment_*, which are borrowed. The secret is reloaded when
 *  its file changes. `*provider` stays NULL if payment_provider is "none". Returns false, with
 *  one sentence in `error`, if the settings are unusable. */
bool payment_provider_open(const struct settings *settings, struct payment_provider **provider,
                           char error[PAYMENT_PROVIDER_ERROR]);

/** NULL is allowed. */
void payment_provider_close(struct payment_provider *provider);

/** The provider's name as in the setting: "kakaopay", "toss". */
const char *payment_provider_name(const struct payment_provider *provider);

/** Opens a session; no money moves yet. OK fills `*session`. */
struct payment_verdict payment_provider_ready(struct payment_provider *provider,
                                              struct arena *arena,
                                              const struct payment_subject *subject,
                                              const struct payment_offer *offer,
                                              struct payment_session *session);

/** Takes the money. OK: `*state` says what was taken; compare it. `attempt` (≥ 1) increases only
 *  after an attempt at which certainly nothing was taken: a repeated call of the same attempt may
 *  be answered from the provider's memory, and takes nothing twice. REJECTED as MISMATCH, with
 *  nothing sent, if `back` cannot belong to this payment. */
struct payment_verdict payment_provider_approve(struct payment_provider *provider,
                                                struct arena *arena,
                                                const struct payment_subject *subject,
                                                const struct payment_return *back, int64_t attempt,
                                                struct payment_state *state);

/** Queries the payment's state; changes nothing. OK: `*state`, whose ref and id are the subject's.
 *  REJECTED only as NO_SUCH or MISCONFIGURED. */
struct payment_verdict payment_provider_lookup(struct payment_provider *provider,
                                               struct arena *arena,
                                               const struct payment_subject *subject,
                                               struct payment_state *state);

/** Refunds `money` of it. `before`: the amount canceled before, so that the same call sent twice
 *  refunds once. OK: `*state` after it. REJECTED: this call refunded nothing. */
struct payment_verdict payment_provider_cancel(struct payment_provider *provider,
                                               struct arena *arena,
                                               const struct payment_subject *subject,
                                               const struct payment_money *money, int64_t before,
                                               struct payment_state *state);

enum payment_notice_outcome {
    PAYMENT_NOTICE_HINT,  /* look `*hint` up: the content of a webhook is never trusted */
    PAYMENT_NOTICE_OTHER, /* well formed, but not about a payment's state: answer 200, do nothing */
    PAYMENT_NOTICE_MALFORMED, /* not in the provider's form */
    PAYMENT_NOTICE_NONE       /* this provider makes no webhook calls */
};

/** Which payment a webhook is about. One of the two may be empty. */
struct payment_hint {
    struct str ref;
    struct str id; /* our id of it */
};

/** Parses the body of a webhook call; does no I/O. */
enum payment_notice_outcome payment_provider_notice(const struct payment_provider *provider,
                                                    struct arena *arena, struct str body,
                                                    struct payment_hint *hint);

/** The VAT included in `total`: (total - tax_free) / 11, rounded half up. 0 ≤ tax_free ≤ total. */
int64_t payment_vat(int64_t total, int64_t tax_free);

#endif
