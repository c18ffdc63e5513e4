/*
 * reconcile — brings Redis and PostgreSQL to agree again after crashes: claims past their lease,
 * the outbox, payments that nobody finished, unpaid orders past their time, draws that are due,
 * codes, queues and shows that Redis does not know (or knows an older version of), places, seats
 * and counts of coupons that drifted apart. Once a minute it writes down how the queues went. What
 * is remembered of spent claims it ends. Safe to run several at once: each step is one that may be
 * done twice.
 */
#ifndef SLUICE_RECONCILE_RECONCILE_H
#define SLUICE_RECONCILE_RECONCILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/identifier.h"
#include "lib/orders/outbox_acks.h"
#include "lib/orders/payment_admin.h"
#include "lib/orders/queue_store.h"
#include "lib/payments/payment_provider.h"
#include "lib/settings/settings.h"
#include "lib/store/postgres.h"
#include "lib/store/redis.h"

/** What one pass did, and what it could not. */
struct reconcile_report {
    int64_t queues_published;
    int64_t queues_recovered;
    int64_t claims_released;
    int64_t claims_consumed;
    int64_t claims_forgotten; /* decided so long ago that nobody can come back to them */
    int64_t claims_open; /* not decided yet: their transaction runs, or a part does not answer */
    int64_t outbox_done;
    int64_t outbox_stuck; /* rows that failed so often that a person should look */
    int64_t orders_expired;
    int64_t payments_settled;
    int64_t payments_open; /* looked at, and neither the provider nor PostgreSQL let us settle it */
    int64_t payments_stuck;          /* of those, the ones that a person should look at */
    struct payment_seen *for_person; /* see reconcile_payments_for_person() */
    size_t for_person_count;
    int64_t places_mended;
    int64_t lotteries_drawn;
    int64_t codes_loaded;   /* that Redis did not know */
    int64_t coupons_mended; /* owners and findings that Redis had wrong */
    int64_t places_freed;   /* kept for an order that holds none any more */
    int64_t shows_loaded;
    int64_t seats_published; /* of which Redis had not heard what became of them */
    int64_t seats_corrected; /* of which Redis believed what PostgreSQL does not know */
    bool redis_silent;
    bool postgres_silent;
    bool overtaken; /* another reconcile has begun a later recovery of a queue */
};

/** The seat that was compared last. */
struct compared {
    char queue[SLUG_MAX + 1];
    char show[SLUG_MAX + 1];
    char seat[SEAT_MAX + 1];
};

struct reconcile {
    const struct settings *settings;
    struct redis *redis;
    struct postgres *postgres;
    struct payment_provider *payment_provider; /* NULL: there is none */
    struct arena *arena;
    struct reconcile_report report; /* of the pass that runs */
    struct outbox_acks outbox_acks; /* tokens that were spent here, not by their workers */
    bool
        thorough; /* a pass compares every seat, not just the next pages of them, and takes every row
                      of the outbox, not just those that no worker deletes any more */
    struct compared compared; /* where the next pass goes on */
    int64_t pages_left;       /* of seats, for the pass that runs */
    int64_t books_at_ms;    /* when the books were last read for the metrics, monotonic; 0: never */
    int64_t history_minute; /* since 1970, by this host: the history is complete up to it */
};

/** Does everything once and fills `reconcile->report`. */
void reconcile_pass(struct reconcile *reconcile);

/** True when the pass found something that needs a person. */
bool reconcile_needs_person(const struct reconcile_report *report);

/* The steps, one file each. */

/** Publishes what Redis missed and recovers queues that it forgot; once all are there, writes
 *  that down (queues.c). */
void reconcile_publish(struct reconcile *reconcile);

/** Makes the line of a queue anew that Redis has forgotten, or whose last moments it may have
 *  forgotten. Returns whether it is back, by us or by another (queues.c). */
bool reconcile_recover(struct reconcile *reconcile, const struct queue_row *missing);

/** Looks whether a primary has begun anew since the last look: what it lost, it lost then. Its
 *  queues are recovered, and the programs speak to it again (tenures.c). Returns false where
 *  that could not be done. */
bool reconcile_tenures(struct reconcile *reconcile);

/** True where that has something to do; asks Redis alone. */
bool reconcile_tenures_changed(struct reconcile *reconcile);

/** Holds a lottery's draw whose list has closed (lottery.c). */
void reconcile_lottery(struct reconcile *reconcile, const struct queue_row *queue);

/** Tells PostgreSQL which codes were used, and Redis the codes that it does not know (codes.c). */
void reconcile_codes(struct reconcile *reconcile, const struct queue_row *queue);

/** Before `queue` comes back: loads its codes and who has used them. Returns false where that
 *  failed. */
bool reconcile_load_codes(struct reconcile *reconcile, const struct queue_row *queue);

/** Before `queue` comes back: tells which seats are taken and loads its shows. Returns false
 *  where that failed. */
bool reconcile_load_shows(struct reconcile *reconcile, const struct queue_row *queue);

/** Begins a pass over the shows of all queues, whose ids rise. */
void reconcile_shows_start(struct reconcile *reconcile);

/** Loads shows of a queue that Redis does not know, or knows an older version of, and compares
 *  what has become of their seats (shows.c). */
void reconcile_shows(struct reconcile *reconcile, const struct queue_row *queue);

/** Settles the claims of a queue whose lease has run out (claims.c). */
void reconcile_claims(struct reconcile *reconcile, const struct queue_row *queue);

/** Forgets claims and admissions that were spent long ago, unless this pass has found something
 *  to settle (spent.c). */
void reconcile_spent(struct reconcile *reconcile);

/** Compares what Redis has heard of a queue's coupon events with PostgreSQL's rows, and mends it
 *  (coupons.c). */
void reconcile_coupons(struct reconcile *reconcile, const struct queue_row *queue);

/** Before `queue` comes back: loads who has a coupon, and what is left. Returns false where that
 *  failed. */
bool reconcile_load_coupons(struct reconcile *reconcile, const struct queue_row *queue);

/** Tells Redis what it has not heard of committed orders (outbox.c). */
void reconcile_outbox(struct reconcile *reconcile);

/** Looks up payments that are due, and finishes them by what the provider says (payments.c). */
void reconcile_payments(struct reconcile *reconcile);

/** Lists the payments that need a person, whether their time has come in this pass or not
 *  (payments.c). */
void reconcile_payments_for_person(struct reconcile *reconcile);

/** Ends unpaid orders whose time is over (orders.c). */
void reconcile_orders(struct reconcile *reconcile);

/** Writes down how the queues went, once a minute: each minute that is over and was not written
 *  down yet (history.c). */
void reconcile_history(struct reconcile *reconcile, const struct queue_row *queues, size_t count);

/** Compares what Redis and PostgreSQL know of a queue, remembers its highest number and mends
 *  places (drift.c). */
void reconcile_drift(struct reconcile *reconcile, const struct queue_row *queue);

/** Counts what the pass did, which began at `began_us` (clock_monotonic_us), and now and then
 *  what the books say, in the metrics of this host (figures.c). */
void reconcile_figures(struct reconcile *reconcile, int64_t began_us);

#endif
