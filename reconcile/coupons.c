/*
 * Compares coupon events in Redis with PostgreSQL's rows. Redis is read first: coupons are never
 * taken back, so PostgreSQL, queried later, knows every owner that Redis knew by then. Corrections
 * do no harm whatever is in flight meanwhile: findings carry a number, owners are added and dropped
 * by name.
 */
#include "lib/admission/coupons/coupons.h"
#include "lib/base/log.h"
#include "lib/database/coupons/coupon_counts.h"
#include "lib/database/coupons/coupon_store.h"
#include "lib/database/goods/availability.h"
#include "reconcile/reconcile.h"

enum { CALLS_PER_PASS = 1000 };

static const struct known_coupons NOTHING_KNOWN;

static bool redis_answered(struct reconcile *reconcile, bool answered)
{
    reconcile->report.redis_silent |= !answered;
    return answered;
}

/* Loads all owners, page by page. Returns false if a store does not answer. */
static bool load_owners(struct reconcile *reconcile, struct str queue, struct str event,
                        int64_t *added)
{
    struct str after = {0};
    size_t count;

    do {
        const struct coupon_owner *owners;
        struct str members[COUPON_OWNERS_PER_CALL];
        int64_t changed;
        if (coupons_page(reconcile->postgres, reconcile->arena, event, after,
                         COUPON_OWNERS_PER_CALL, &owners, &count) != COUPON_FOUND) {
            reconcile->report.postgres_silent = true;
            return false;
        }
        for (size_t i = 0; i < count; i++) {
            members[i] = owners[i].member;
        }
        if (!redis_answered(reconcile,
                            coupon_owners_publish(reconcile->redis, reconcile->arena, queue, event,
                                                  true, members, count, &changed))) {
            return false;
        }
        *added += changed;
        after = count > 0 ? members[count - 1] : after;
    } while (count == COUPON_OWNERS_PER_CALL);
    return true;
}

/* Drops owners of `event` from Redis who have no coupon of it, or all of them (`all`) if Redis no
 * longer needs the event. */
static void drop_owners(struct reconcile *reconcile, struct str queue, struct str event, bool all,
                        int64_t *dropped)
{
    struct str after = {0};
    size_t count = COUPON_OWNERS_PER_CALL;

    for (int call = 0; call < CALLS_PER_PASS && count == COUPON_OWNERS_PER_CALL; call++) {
        const struct str *members;
        struct str strangers[COUPON_OWNERS_PER_CALL];
        bool owns[COUPON_OWNERS_PER_CALL] = {false};
        size_t found = 0;
        int64_t changed;
        if (!redis_answered(reconcile, coupon_owners_read(reconcile->redis, reconcile->arena, queue,
                                                          event, after, &members, &count))) {
            return;
        }
        if (!all && coupon_owners_of(reconcile->postgres, reconcile->arena, event, members, count,
                                     owns) != POSTGRES_OK) {
            reconcile->report.postgres_silent = true;
            return;
        }
        for (size_t i = 0; i < count; i++) {
            if (!owns[i]) {
                strangers[found++] = members[i];
            }
        }
        if (!redis_answered(reconcile,
                            coupon_owners_publish(reconcile->redis, reconcile->arena, queue, event,
                                                  false, strangers, found, &changed))) {
            return;
        }
        *dropped += changed;
        after = count > 0 ? members[count - 1] : after;
    }
}

static void note(struct reconcile *reconcile, struct str queue, const struct coupon_count *count,
                 const struct known_coupons *known, int64_t added, int64_t dropped)
{
    if (added + dropped == 0) {
        return;
    }
    reconcile->report.coupons_mended += added + dropped;
    log_event(LOG_LEVEL_WARNING, "coupons.owners_drift",
              LOG_FIELDS(LOG_STR("queue", queue), LOG_STR("couponEvent", count->event),
                         LOG_INT("redis", known->owners), LOG_INT("postgres", count->issued),
                         LOG_INT("added", added), LOG_INT("dropped", dropped)));
}

static void compare_owners(struct reconcile *reconcile, struct str queue,
                           const struct coupon_count *count, const struct known_coupons *known)
{
    int64_t added = 0;
    int64_t dropped = 0;

    if (known->owners > count->issued) {
        drop_owners(reconcile, queue, count->event, false, &dropped);
    }
    /* Those still in the outbox are not missing. */
    if (known->owners - dropped < count->issued - count->unpublished) {
        (void)load_owners(reconcile, queue, count->event, &added);
    }
    note(reconcile, queue, count, known, added, dropped);
}

static const struct known_coupons *find_known(const struct known_coupons *known, size_t count,
                                              struct str event)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal(known[i].event, event)) {
            return &known[i];
        }
    }
    return &NOTHING_KNOWN;
}

static bool is_counted(const struct coupon_count *counts, size_t count, struct str event)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal(counts[i].event, event)) {
            return true;
        }
    }
    return false;
}

/* Drops events that Redis does not need, or no longer, a day after their end. Returns whether one
 * of them has a record, which the next finding deletes. */
static bool forget_others(struct reconcile *reconcile, struct str queue,
                          const struct known_coupons *known, size_t known_count,
                          const struct coupon_count *counts, size_t count)
{
    bool is_listed = false;

    for (size_t i = 0; i < known_count; i++) {
        if (!is_counted(counts, count, known[i].event)) {
            int64_t forgotten = 0;
            is_listed |= known[i].record.n > 0;
            drop_owners(reconcile, queue, known[i].event, true, &forgotten);
        }
    }
    return is_listed;
}

/* A record differs although Redis has the last finding: a worker died between its commit and its
 * finding, or something else wrote to Redis. With an older finding Redis merely lags. */
static void note_record(struct reconcile *reconcile, const struct queue_row *queue, int64_t change,
                        const struct coupon_count *count, const struct known_coupons *known)
{
    bool is_late = change != queue->sold_out_change;

    reconcile->report.coupons_mended += !is_late;
    log_event(is_late ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, "coupons.drift",
              LOG_FIELDS(LOG_STR("queue", queue->id), LOG_STR("couponEvent", count->event),
                         LOG_STR("redis", known->record), LOG_STR("postgres", count->record)));
}

void reconcile_coupons(struct reconcile *reconcile, const struct queue_row *queue)
{
    const struct known_coupons *known;
    const struct coupon_count *counts;
    size_t known_count;
    size_t count;
    int64_t change;
    enum outcome outcome =
        coupons_known(reconcile->redis, reconcile->arena, queue->id, &change, &known, &known_count);

    if (outcome != OUTCOME_OK) {
        reconcile->report.redis_silent |= outcome == OUTCOME_ADMISSION_UNAVAILABLE;
        return;
    }
    if (coupon_counts(reconcile->postgres, reconcile->arena, queue->id, &counts, &count) !=
        POSTGRES_OK) {
        reconcile->report.postgres_silent = true;
        return;
    }
    bool differs = forget_others(reconcile, queue->id, known, known_count, counts, count);
    for (size_t i = 0; i < count; i++) {
        const struct known_coupons *of_event = find_known(known, known_count, counts[i].event);
        if (!str_equal(of_event->record, counts[i].record)) {
            differs = true;
            note_record(reconcile, queue, change, &counts[i], of_event);
        }
        compare_owners(reconcile, queue->id, &counts[i], of_event);
    }
    if (differs) {
        (void)availability_publish(reconcile->postgres, reconcile->redis, reconcile->arena,
                                   queue->id, false);
    }
}

bool reconcile_load_coupons(struct reconcile *reconcile, const struct queue_row *queue)
{
    const struct coupon_count *counts;
    size_t count;
    int64_t added = 0;

    if (coupon_counts(reconcile->postgres, reconcile->arena, queue->id, &counts, &count) !=
        POSTGRES_OK) {
        reconcile->report.postgres_silent = true;
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!load_owners(reconcile, queue->id, counts[i].event, &added)) {
            return false;
        }
    }
    return availability_publish(reconcile->postgres, reconcile->redis, reconcile->arena, queue->id,
                                false);
}
