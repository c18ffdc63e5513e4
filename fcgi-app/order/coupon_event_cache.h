/*
 * coupon_event_cache — what this worker knows of coupon events: name, queue, times, captcha. Looked
 * up in PostgreSQL at most once a second and event, so that requests without a token never get
 * there.
 */
#ifndef SLUICE_ORDER_COUPON_EVENT_CACHE_H
#define SLUICE_ORDER_COUPON_EVENT_CACHE_H

#include "fcgi-app/order/captcha.h"
#include "fcgi-app/pool/services.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/orders/coupon_store.h"

/** Of one event. */
struct cached_coupon_event {
    struct str name; /* texts are borrowed from what is remembered, until the next call */
    struct str queue;
    struct str captcha_word; /* "none", "altcha" or "siteverify" */
    enum captcha_kind captcha;
    int64_t opens_ms; /* COUPON_NO_TIME: at once */
    int64_t ends_ms;  /* COUPON_NO_TIME: never */
    int64_t now_ms;   /* PostgreSQL's clock, carried on by this host's */
    int64_t
        behind; /* the coupon that was issued here last, to look for the next; 0: from the beginning */
};

/** Who wants to know. */
enum coupon_event_asker { ASKED_BY_CALLER, ASKED_BY_ANYBODY };

/** FOUND, NO_SUCH, or UNAVAILABLE: PostgreSQL cannot say it now, or was asked about too many
 *  events that it did not know. Those are counted for each kind of asker: whoever has not even
 *  signed in must not use up what is left for others. What is known is up to a second old, a
 *  minute while PostgreSQL is silent. */
enum coupon_outcome coupon_event_cache_find(const struct services *services, struct arena *arena,
                                            enum coupon_event_asker asker, struct str id,
                                            struct cached_coupon_event *event);

/** Coupon `number` was issued; 0: one came back, so that the next is to be looked for from the
 *  beginning. That happens anyway whenever the event is looked up, for others give coupons back
 *  too. */
void coupon_event_cache_note_issued(struct str id, int64_t number);

/** PostgreSQL has said that it is otherwise: it is looked up again. */
void coupon_event_cache_forget(struct str id);

#endif
