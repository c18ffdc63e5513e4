#include "lib/admission/tokens/claim.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/catalog/catalog.h"
#include "lib/database/goods/availability.h"
#include "lib/database/outbox/outbox_store.h"
#include "lib/database/seats/seat_publication.h"
#include "lib/database/store_refusal.h"
#include "reconcile/reconcile.h"

enum {
    ROWS_PER_BATCH = 200,
    BATCHES_PER_PASS = 50,
    STUCK_ATTEMPTS = 20, /* then a person should check */
    /* A live worker deletes its rows within OUTBOX_ACKS_FLUSH_MS, a heartbeat and a statement. */
    WORKER_MS = 6000
};

/* CONSUMED: the order pool could not spend the token. Logged once, with the names that its log
 * lines of the request have. */
static enum outcome consume(struct reconcile *reconcile, const struct outbox_row *row)
{
    struct claim claim = {.queue = row->queue, .member = row->member, .event = row->event};

    str_copy(row->admission, claim.admission, sizeof(claim.admission));
    str_copy(row->key_hash, claim.key_hash, sizeof(claim.key_hash));
    enum outcome outcome =
        claim_consume(reconcile->redis, reconcile->arena, &claim, row->order,
                      reconcile->settings->tombstone_seconds * 1000, row->keep_place);

    if (outcome == OUTCOME_CONSUMED) {
        log_event(LOG_LEVEL_INFO, "outbox.consumed",
                  LOG_FIELDS(LOG_STR("queue", row->queue), LOG_STR("order", row->order),
                             LOG_INT("attempts", row->attempts)));
    }
    return outcome;
}

enum delivery { DELIVERED, DELIVERED_JUST_NOW, NOT_DELIVERED };

/* Redis may still lose what it has just applied: the row is deleted later, see outbox_acks. With
 * --once there is no later. */
static enum delivery deliver_consume(struct reconcile *reconcile, const struct outbox_row *row)
{
    switch (consume(reconcile, row)) {
    case OUTCOME_ADMISSION_UNAVAILABLE:
        return NOT_DELIVERED;
    case OUTCOME_CONSUMED:
        if (!reconcile->thorough) {
            outbox_acks_add(&reconcile->outbox_acks, row->id, clock_monotonic_ms());
            return DELIVERED_JUST_NOW;
        }
        return DELIVERED;
    default:
        return DELIVERED;
    }
}

static enum delivery deliver(struct reconcile *reconcile, const struct outbox_row *row)
{
    bool done = false;

    switch (row->kind) {
    case OUTBOX_CONSUME:
        return deliver_consume(reconcile, row);
    case OUTBOX_FREE_PLACE:
        done = place_free(reconcile->redis, reconcile->arena, row->queue, row->member,
                          row->order) != OUTCOME_ADMISSION_UNAVAILABLE;
        break;
    case OUTBOX_SEATS:
        done = order_seats_publish(reconcile->postgres, reconcile->redis, reconcile->arena,
                                   row->order);
        break;
    case OUTBOX_SOLD_OUT:
        done = availability_publish(reconcile->postgres, reconcile->redis, reconcile->arena,
                                    row->queue, false);
        break;
    case OUTBOX_CONCERT:
        done = catalog_concert_changed(reconcile->redis, reconcile->arena, row->concert);
        break;
    }
    return done ? DELIVERED : NOT_DELIVERED;
}

/* A refusal, because of a lock perhaps, is an answer: the rows are carried out once more when their
 * turn comes again. */
static bool delete_rows(struct reconcile *reconcile, const int64_t *ids, size_t count)
{
    enum postgres_outcome outcome = outbox_done(reconcile->postgres, reconcile->arena, ids, count);

    if (outcome != POSTGRES_OK) {
        (void)store_refusal_of(reconcile->postgres, outcome, "outbox_done");
        reconcile->report.postgres_silent |= outcome != POSTGRES_REFUSED;
    }
    return outcome == POSTGRES_OK;
}

/* Returns how many rows were taken, -1 if this pass should not continue. */
static int64_t process_batch(struct reconcile *reconcile)
{
    struct reconcile_report *report = &reconcile->report;
    const struct outbox_row *rows;
    int64_t age_ms = reconcile->thorough ? 0 : WORKER_MS;
    size_t count;
    size_t done = 0;
    size_t just_now = 0;

    if (outbox_take(reconcile->postgres, reconcile->arena, ROWS_PER_BATCH, age_ms, &rows, &count) !=
        POSTGRES_OK) {
        report->postgres_silent = true;
        return -1;
    }
    int64_t *ids = arena_alloc(reconcile->arena, (count + 1) * sizeof(*ids));
    for (size_t i = 0; i < count; i++) {
        enum delivery delivery = deliver(reconcile, &rows[i]);
        if (delivery == DELIVERED) {
            ids[done++] = rows[i].id;
        } else if (delivery == DELIVERED_JUST_NOW) {
            just_now++;
        } else if (rows[i].attempts >= STUCK_ATTEMPTS) {
            report->outbox_stuck++;
            log_event(LOG_LEVEL_WARNING, "outbox.stuck",
                      LOG_FIELDS(LOG_INT("row", rows[i].id), LOG_STR("queue", rows[i].queue),
                                 LOG_INT("attempts", rows[i].attempts)));
        }
    }
    if (done > 0 && !delete_rows(reconcile, ids, done)) {
        return -1;
    }
    report->outbox_done += (int64_t)(done + just_now);
    return done + just_now < count ? -1 : (int64_t)count;
}

static void flush_acks(struct reconcile *reconcile)
{
    size_t before;

    do {
        before = reconcile->outbox_acks.count;
        outbox_acks_flush(&reconcile->outbox_acks, reconcile->postgres, reconcile->arena,
                          OUTBOX_ACKS_DURABLE_MS);
    } while (reconcile->outbox_acks.count < before);
}

void reconcile_outbox(struct reconcile *reconcile)
{
    flush_acks(reconcile);
    for (int batch = 0; batch < BATCHES_PER_PASS; batch++) {
        if (process_batch(reconcile) < ROWS_PER_BATCH) {
            return;
        }
    }
}
