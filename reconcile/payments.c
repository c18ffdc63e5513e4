/* Payments whose time to be looked at has come: what the provider says is what they come to. */
#include "lib/base/clock.h"
#include "lib/payments/payment_flow.h"
#include "reconcile/reconcile.h"

/* Each may take calls of the provider: few at a time, and no longer than the rest of reconcile can wait. */
enum { PAYMENTS_PER_BATCH = 4, LONGEST_MS = 10000 };

/* Takes one batch and settles it. Returns false where there is no more to do in this pass. */
static bool settle_batch(struct reconcile *reconcile, const struct payment_flow *flow)
{
    struct reconcile_report *report = &reconcile->report;
    const struct payment_row *rows;
    size_t count;

    if (payments_due(reconcile->postgres, reconcile->arena, PAYMENTS_PER_BATCH,
                     reconcile->settings->payment_person_after, &rows,
                     &count) != PAYMENT_STORED_DONE) {
        report->postgres_silent = true;
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        switch (payment_flow_settle(flow, reconcile->arena, &rows[i])) {
        case PAYMENT_SETTLED_DONE:
            report->payments_settled++;
            break;
        case PAYMENT_SETTLED_WAITS:
            break;
        case PAYMENT_SETTLED_OPEN:
            report->payments_open++;
            report->payments_stuck += rows[i].needs_person ? 1 : 0;
            break;
        case PAYMENT_SETTLED_NO_STORE:
            report->postgres_silent = true;
            return false;
        }
    }
    return count == PAYMENTS_PER_BATCH;
}

void reconcile_payments(struct reconcile *reconcile)
{
    const struct payment_flow flow = {
        .settings = reconcile->settings,
        .postgres = reconcile->postgres,
        .redis = reconcile->redis,
        .provider = reconcile->payment_provider,
    };

    int64_t end_ms = clock_monotonic_ms() + LONGEST_MS;

    while (settle_batch(reconcile, &flow) && clock_monotonic_ms() < end_ms) {
    }
}
