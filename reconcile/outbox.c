#include "lib/admission/claim.h"
#include "lib/base/log.h"
#include "lib/catalog/catalog.h"
#include "lib/orders/availability.h"
#include "lib/orders/outbox_store.h"
#include "lib/orders/seat_publication.h"
#include "reconcile/reconcile.h"

enum {
    ROWS_PER_BATCH = 200,
    BATCHES_PER_PASS = 50,
    STUCK_ATTEMPTS = 20, /* then a person should look */
    /* A worker that lives strikes its rows within TOLD_ROWS_REST_MS, a beat and a statement. */
    WORKER_MS = 6000
};

/* A token that the order pool could not spend: said once, with what its line of the request names too. */
static bool consume(struct reconcile *reconcile, const struct outbox_row *row,
                    const struct claim *claim)
{
    enum outcome outcome =
        claim_consume(reconcile->redis, reconcile->arena, claim, row->order,
                      reconcile->settings->tombstone_seconds * 1000, row->keep_place);

    if (outcome == OUTCOME_CONSUMED) {
        log_event(LOG_LEVEL_INFO, "outbox.consumed",
                  LOG_FIELDS(LOG_STR("queue", row->queue), LOG_STR("order", row->order),
                             LOG_INT("attempts", row->attempts)));
    }
    return outcome != OUTCOME_ADMISSION_UNAVAILABLE;
}

static bool carry_out(struct reconcile *reconcile, const struct outbox_row *row)
{
    struct claim claim = {.queue = row->queue, .member = row->member, .event = row->event};

    switch (row->kind) {
    case OUTBOX_CONSUME:
        str_copy(row->admission, claim.admission, sizeof(claim.admission));
        str_copy(row->key_hash, claim.key_hash, sizeof(claim.key_hash));
        return consume(reconcile, row, &claim);
    case OUTBOX_FREE_PLACE:
        return place_free(reconcile->redis, reconcile->arena, row->queue, row->member,
                          row->order) != OUTCOME_ADMISSION_UNAVAILABLE;
    case OUTBOX_SEATS:
        return order_seats_tell(reconcile->postgres, reconcile->redis, reconcile->arena,
                                row->order);
    case OUTBOX_SOLD_OUT:
        return availability_publish(reconcile->postgres, reconcile->redis, reconcile->arena,
                                    row->queue, false);
    case OUTBOX_CONCERT:
        return catalog_concert_changed(reconcile->redis, reconcile->arena, row->concert);
    }
    return false;
}

/* Returns how many rows were taken, -1 when this pass should not go on. */
static int64_t work_off_batch(struct reconcile *reconcile)
{
    struct reconcile_report *report = &reconcile->report;
    const struct outbox_row *rows;
    size_t count;
    size_t done = 0;

    if (outbox_take(reconcile->postgres, reconcile->arena, ROWS_PER_BATCH,
                    reconcile->thorough ? 0 : WORKER_MS, &rows, &count) != POSTGRES_OK) {
        report->postgres_silent = true;
        return -1;
    }
    int64_t *ids = arena_alloc(reconcile->arena, (count + 1) * sizeof(*ids));
    for (size_t i = 0; i < count; i++) {
        if (carry_out(reconcile, &rows[i])) {
            ids[done++] = rows[i].id;
        } else if (rows[i].attempts >= STUCK_ATTEMPTS) {
            report->outbox_stuck++;
            log_event(LOG_LEVEL_WARNING, "outbox.stuck",
                      LOG_FIELDS(LOG_INT("row", rows[i].id), LOG_STR("queue", rows[i].queue),
                                 LOG_INT("attempts", rows[i].attempts)));
        }
    }
    if (done > 0 && outbox_done(reconcile->postgres, reconcile->arena, ids, done) != POSTGRES_OK) {
        report->postgres_silent = true;
        return -1;
    }
    report->outbox_done += (int64_t)done;
    return done < count ? -1 : (int64_t)count;
}

void reconcile_outbox(struct reconcile *reconcile)
{
    for (int batch = 0; batch < BATCHES_PER_PASS; batch++) {
        if (work_off_batch(reconcile) < ROWS_PER_BATCH) {
            return;
        }
    }
}
