/*
 * coupon_event_cache — this worker's cache of coupon events: name, queue, times, captcha. Each
 * event is read from PostgreSQL at most once a second, so requests without a token never get there.
 * An unknown one is read each time, within a budget, so that its creation is seen at once.
 */
#ifndef SLUICE_ORDER_COUPON_EVENT_CACHE_H
#define SLUICE_ORDER_COUPON_EVENT_CACHE_H

#include <stdbool.h>

#include "fcgi-app/order/captcha/captcha.h"
#include "fcgi-app/pool/services.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/database/coupons/coupon_store.h"

/** One event. */
struct cached_coupon_event {
    struct str name; /* texts are borrowed from the cache, until the next call */
    struct str queue;
    struct str captcha_word; /* "none", "altcha" or "siteverify" */
    enum captcha_kind captcha;
    int64_t opens_ms; /* COUPON_NO_TIME: at once */
    int64_t ends_ms;  /* COUPON_NO_TIME: never */
    int64_t now_ms;   /* PostgreSQL's clock, advanced by this host's */
    int64_t
        behind; /* last coupon issued here: the next is searched after it; 0: from the beginning */
};

/** The kind of client that asks. */
enum coupon_event_asker { ASKED_BY_CALLER, ASKED_BY_ANYBODY };

/** FOUND, NO_SUCH, or UNAVAILABLE: PostgreSQL does not answer, or too many unknown events were
 *  requested. Those are counted per kind of asker: clients that have not signed in must not use up
 *  the allowance of others. An entry is up to a second old, that of an event a minute while
 *  PostgreSQL does not answer. */
enum coupon_outcome coupon_event_cache_find(const struct services *services, struct arena *arena,
                                            enum coupon_event_asker asker, struct str id,
                                            struct cached_coupon_event *event);

/** Reads the event again for a token that Redis has refused: true if PostgreSQL has the event in
 *  another queue than event->queue (not borrowed from the cache); then `*event` is the current one.
 *  As anybody can send invalid tokens, it is read at most 20 times a second, and beyond that once
 *  in 50 ms per event: false meanwhile, as where PostgreSQL does not answer. */
bool coupon_event_cache_moved(const struct services *services, struct arena *arena, struct str id,
                              struct cached_coupon_event *event);

/** Coupon `number` was issued; 0: one was returned, so the next search starts at the beginning. So
 *  does the search after each reload of the event, as other workers return coupons too. */
void coupon_event_cache_note_issued(struct str id, int64_t number);

/** PostgreSQL contradicted the entry: it is read again. */
void coupon_event_cache_forget(struct str id);

#endif
