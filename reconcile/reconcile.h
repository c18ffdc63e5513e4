/*
 * reconcile — brings Redis and PostgreSQL back into agreement after crashes: expired claims, the
 * outbox, unfinished payments, expired unpaid orders, due draws, codes, queues and shows that are
 * missing or outdated in Redis, and places, seats and coupon counts that drifted apart. Once a
 * minute it records the queues' history. It deletes old records of spent claims. Several may run at
 * the same time: each step is idempotent.
 */
#ifndef SLUICE_RECONCILE_RECONCILE_H
#define SLUICE_RECONCILE_RECONCILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/identifier.h"
#include "lib/database/outbox/outbox_acks.h"
#include "lib/database/payments/payment_admin.h"
#include "lib/database/queues/queue_store.h"
#include "lib/payments/payment_provider.h"
#include "lib/settings/settings.h"
#include "lib/store/postgres.h"
#include "lib/store/redis.h"

/** What one pass did, and what it could not do. */
struct reconcile_report {
    int64_t queues_published;
    int64_t queues_recovered;
    int64_t claims_released;
    int64_t claims_consumed;
    int64_t claims_forgotten; /* decided so long ago that no retry can refer to them */
    int64_t claims_open;      /* undecided: their transaction runs, or a store does not answer */
    int64_t outbox_done;
    int64_t outbox_stuck; /* rows that failed so often that a person should check them */
    int64_t orders_expired;
    int64_t payments_settled;
    int64_t payments_open; /* looked up, but neither the provider nor PostgreSQL let us settle it */
    int64_t payments_stuck;          /* of those, the ones that a person should check */
    bool payments_unusable;          /* the provider cannot be called: no payment was looked up */
    struct payment_seen *for_person; /* see reconcile_payments_for_person() */
    size_t for_person_count;
    int64_t places_mended;
    int64_t lotteries_drawn;
    int64_t codes_loaded;   /* that were missing in Redis */
    int64_t coupons_mended; /* owners and findings that were wrong in Redis */
    int64_t places_freed;   /* kept for an order that no longer holds one */
    int64_t shows_loaded;
    int64_t seats_published; /* whose state had not reached Redis */
    int64_t seats_corrected; /* whose state in Redis PostgreSQL does not know */
    bool redis_silent;       /* nothing more is done with Redis in this pass */
    bool postgres_silent;
    bool overtaken;   /* another reconcile is recovering a queue */
    bool unrecovered; /* this pass could not recover the queues */
};

/** The last seat compared. */
struct compared {
    char queue[SLUG_MAX + 1];
    char show[SLUG_MAX + 1];
    char seat[SEAT_MAX + 1];
};

struct reconcile {
    const struct settings *settings;
    struct redis *redis;
    struct postgres *postgres;
    struct payment_provider *payment_provider;  /* NULL: there is none, or it is unusable */
    char payment_error[PAYMENT_PROVIDER_ERROR]; /* why it is unusable, as last logged */
    struct arena *arena;
    struct reconcile_report report; /* of the current pass */
    struct outbox_acks outbox_acks; /* tokens that were spent here, not by their workers */
    bool thorough; /* a pass compares every seat, not just the next pages of them, and takes every
                     row of the outbox, not just those that no worker deletes any more */
    struct compared compared; /* where the next pass continues */
    int64_t pages_left;       /* of seats, for the current pass */
    int64_t books_at_ms;    /* when the books were last read for the metrics, monotonic; 0: never */
    int64_t history_minute; /* since 1970, by this host: the history is complete up to it */
};

/** Does everything once and fills `reconcile->report`. */
void reconcile_pass(struct reconcile *reconcile);

/** True if the pass found something that needs a person. */
bool reconcile_needs_person(const struct reconcile_report *report);

/* The steps, one file each. */

/** Publishes settings that Redis has missed and recovers queues that it has lost; once all are
 *  there, records that (queues.c). */
void reconcile_publish(struct reconcile *reconcile);

/** Takes the lock of recoveries. A recovery raises the incarnation, which ends any other recovery
 *  of that queue: two reconciles could raise each other's incarnations forever, and the lock
 *  prevents that. False if another reconcile has it, or PostgreSQL does not answer. */
bool reconcile_recovery_begin(struct reconcile *reconcile);

/** Releases it. */
void reconcile_recovery_end(struct reconcile *reconcile);

/** Rebuilds the line of a queue that Redis has lost, or whose last moments it may have lost.
 *  Returns whether the queue is back, by us or by another process (queues.c). */
bool reconcile_recover(struct reconcile *reconcile, const struct queue_row *missing);

/** Checks whether a primary has started a new tenure since the last check, and so may have lost
 *  data. Its queues are recovered, and the programs are allowed to use it again (tenures.c).
 *  Returns false if that failed. */
bool reconcile_tenures(struct reconcile *reconcile);

/** True if that has something to do; queries Redis alone. */
bool reconcile_tenures_changed(struct reconcile *reconcile);

/** Holds the draw of a lottery whose list has closed (lottery.c). */
void reconcile_lottery(struct reconcile *reconcile, const struct queue_row *queue);

/** Records in PostgreSQL which codes were used, and loads missing codes into Redis (codes.c). */
void reconcile_codes(struct reconcile *reconcile, const struct queue_row *queue);

/** Before `queue` is recovered: loads its codes and who has used them. Returns false if that
 *  failed. */
bool reconcile_load_codes(struct reconcile *reconcile, const struct queue_row *queue);

/** Before `queue` is recovered: publishes which seats are taken and loads its shows. Returns false
 *  if that failed. */
bool reconcile_load_shows(struct reconcile *reconcile, const struct queue_row *queue);

/** Begins a pass over the shows of all queues, in ascending order of their ids. */
void reconcile_shows_start(struct reconcile *reconcile);

/** Loads shows of a queue that are missing or outdated in Redis, and compares the states of their
 *  seats (shows.c). */
void reconcile_shows(struct reconcile *reconcile, const struct queue_row *queue);

/** Settles the claims of a queue whose lease has expired (claims.c). */
void reconcile_claims(struct reconcile *reconcile, const struct queue_row *queue);

/** Deletes the records of claims and admissions spent long ago, unless this pass has found
 *  something to settle (spent.c). */
void reconcile_spent(struct reconcile *reconcile);

/** Compares a queue's coupon events in Redis with PostgreSQL's rows and corrects them
 *  (coupons.c). */
void reconcile_coupons(struct reconcile *reconcile, const struct queue_row *queue);

/** Before `queue` is recovered: loads who has a coupon, and what is left. Returns false if that
 *  failed. */
bool reconcile_load_coupons(struct reconcile *reconcile, const struct queue_row *queue);

/** Applies to Redis the committed orders that it has missed (outbox.c). */
void reconcile_outbox(struct reconcile *reconcile);

/** Opens the provider that the settings name, unless it is open. Returns false, with a log event,
 *  if it cannot be used; its key file may be usable at the next attempt (payments.c). */
bool reconcile_payments_open(struct reconcile *reconcile);

/** Looks up due payments, and finishes them as the provider reports. Ends early if a primary has
 *  started a new tenure; looks up none if the provider cannot be used (payments.c). */
void reconcile_payments(struct reconcile *reconcile);

/** Lists the payments that need a person, whether or not they were due in this pass
 *  (payments.c). */
void reconcile_payments_for_person(struct reconcile *reconcile);

/** Ends unpaid orders whose time to pay is over (orders.c). */
void reconcile_orders(struct reconcile *reconcile);

/** Records the queues' history, once a minute: each past minute that was not recorded yet
 *  (history.c). */
void reconcile_history(struct reconcile *reconcile, const struct queue_row *queues, size_t count);

/** Compares what Redis and PostgreSQL know of a queue, records its highest number and corrects
 *  places (drift.c). */
void reconcile_drift(struct reconcile *reconcile, const struct queue_row *queue);

/** Counts in this host's metrics what the pass did, which began at `began_us` (clock_monotonic_us),
 *  and from time to time the totals of the books (figures.c). */
void reconcile_figures(struct reconcile *reconcile, int64_t began_us);

#endif
