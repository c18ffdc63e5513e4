#include "lib/admission/tokens/claim.h"
#include "lib/base/log.h"
#include "lib/database/orders/claim_settlement.h"
#include "lib/database/seats/seat_store.h"
#include "reconcile/reconcile.h"

enum { CLAIMS_PER_PASS = 500, SHOWS_PER_PAGE = 100 };

/* Names the order, or coupon, and the claim, as the order pool's log lines of the request do. */
static void note(const struct claim *claim, struct str order, const char *event,
                 enum outcome outcome)
{
    log_event(LOG_LEVEL_INFO, event,
              LOG_FIELDS(LOG_STR("queue", claim->queue), LOG_TEXT("claim", claim->id),
                         LOG_STR("order", order), LOG_TEXT("outcome", outcome_word(outcome))));
}

/* A claim does not say whether it was for seats: whatever it guards in a show of its queue becomes
 * a plain hold again. If this fails, the guard expires. */
static void give_holds_back(struct reconcile *reconcile, struct claim *claim)
{
    const struct show_version *shows;
    struct str after = {0};
    size_t count;

    do {
        if (seat_store_shows(reconcile->postgres, reconcile->arena, claim->queue, after,
                             SHOWS_PER_PAGE, &shows, &count) != POSTGRES_OK) {
            return;
        }
        for (size_t i = 0; i < count; i++) {
            claim->show = shows[i].show;
            (void)claim_release(reconcile->redis, reconcile->arena, claim);
        }
        after = count > 0 ? shows[count - 1].show : after;
    } while (count == SHOWS_PER_PAGE);
}

/* PostgreSQL decides: a claim is released only once it is recorded there as released. */
static void settle(struct reconcile *reconcile, struct claim *claim)
{
    struct reconcile_report *report = &reconcile->report;
    struct settlement settlement;
    enum postgres_outcome answer =
        claim_settle(reconcile->postgres, reconcile->arena, str_of(claim->id), &settlement);
    enum outcome outcome;

    if (answer != POSTGRES_OK) {
        report->postgres_silent |= answer != POSTGRES_REFUSED;
        report->claims_open++;
        return;
    }
    if (settlement.committed) {
        claim->event = settlement.event;
        outcome =
            claim_consume(reconcile->redis, reconcile->arena, claim, settlement.order,
                          reconcile->settings->tombstone_seconds * 1000, settlement.keep_place);
        report->claims_consumed += outcome == OUTCOME_CONSUMED;
        note(claim, settlement.order, "claim.consumed", outcome);
    } else {
        outcome = claim_release(reconcile->redis, reconcile->arena, claim);
        report->claims_released += outcome == OUTCOME_RELEASED;
        note(claim, str_sized(NULL, 0), "claim.released", outcome);
        give_holds_back(reconcile, claim);
    }
    if (outcome == OUTCOME_ADMISSION_UNAVAILABLE) {
        report->redis_silent = true;
        report->claims_open++;
    }
}

void reconcile_claims(struct reconcile *reconcile, const struct queue_row *queue)
{
    struct claim *claims;
    size_t count;
    enum outcome outcome = claims_overdue(reconcile->redis, reconcile->arena, queue->id,
                                          CLAIMS_PER_PASS, &claims, &count);

    if (outcome != OUTCOME_OK) {
        reconcile->report.redis_silent |= outcome == OUTCOME_ADMISSION_UNAVAILABLE;
        return;
    }
    for (size_t i = 0;
         i < count && !reconcile->report.redis_silent && !reconcile->report.postgres_silent; i++) {
        settle(reconcile, &claims[i]);
    }
}
