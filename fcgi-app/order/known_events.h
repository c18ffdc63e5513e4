/*
 * known_events — what this worker knows of coupon events: through which queue, with which captcha. Looked up
 * in PostgreSQL at most once a second and event, so that requests without a token never get there.
 */
#ifndef SLUICE_ORDER_KNOWN_EVENTS_H
#define SLUICE_ORDER_KNOWN_EVENTS_H

#include "fcgi-app/order/captcha.h"
#include "fcgi-app/pool/services.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/orders/coupon_store.h"

/** Of one event. */
struct known_event {
    struct str queue; /* borrowed from what is remembered, until the next call */
    enum captcha_kind captcha;
};

/** FOUND, NO_SUCH, or UNAVAILABLE: PostgreSQL cannot say it now, or was asked about too many events that it
 *  did not know. What is known is up to a second old, a minute while PostgreSQL is silent. */
enum coupon_outcome known_event_find(const struct services *services, struct arena *arena,
                                     struct str id, struct known_event *event);

/** PostgreSQL has said that it is otherwise: it is looked up again. */
void known_event_forget(struct str id);

#endif
