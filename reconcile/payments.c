/* Settles payments that are due for a look-up, by the provider's answer. */
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/database/payments/payment_admin.h"
#include "lib/metrics/metrics.h"
#include "lib/payments/payment_flow.h"
#include "reconcile/reconcile.h"

/* Each may take calls of the provider, and none should be taken before its turn: one at a time, and
 * no longer than the rest of reconcile can wait. */
enum {
    LONGEST_MS = 10000,
    /* While this pass could not recover the queues: the next one tries again. */
    LONGEST_UNRECOVERED_MS = 2000
};

/* Takes one payment and settles it. Returns false if there is no more to do in this pass. */
static bool settle_next(struct reconcile *reconcile, const struct payment_flow *flow)
{
    struct reconcile_report *report = &reconcile->report;
    const struct payment_row *rows;
    size_t count;

    if (payments_due(reconcile->postgres, reconcile->arena, 1,
                     reconcile->settings->payment_person_after,
                     payment_flow_settle_seconds(reconcile->settings), &rows,
                     &count) != PAYMENT_STORED_DONE) {
        report->postgres_silent = true;
        return false;
    }
    if (count == 0) {
        return false;
    }
    switch (payment_flow_settle(flow, reconcile->arena, rows)) {
    case PAYMENT_SETTLED_DONE:
        metrics_add(METRIC_PAYMENT_LOOKS_SETTLED, 1);
        report->payments_settled++;
        return true;
    case PAYMENT_SETTLED_WAITS:
        metrics_add(METRIC_PAYMENT_LOOKS_WAITS, 1);
        return true;
    case PAYMENT_SETTLED_OPEN:
        metrics_add(rows[0].needs_person ? METRIC_PAYMENT_LOOKS_PERSON : METRIC_PAYMENT_LOOKS_OPEN,
                    1);
        report->payments_open++;
        report->payments_stuck += rows[0].needs_person ? 1 : 0;
        return true;
    case PAYMENT_SETTLED_NO_STORE:
        break;
    }
    report->postgres_silent = true;
    return false;
}

bool reconcile_payments_open(struct reconcile *reconcile)
{
    char error[PAYMENT_PROVIDER_ERROR];

    if (reconcile->payment_provider != NULL ||
        payment_provider_open(reconcile->settings, &reconcile->payment_provider, error)) {
        reconcile->payment_error[0] = '\0';
        return true;
    }
    /* Each cause once: a pass follows every few seconds. */
    if (strcmp(error, reconcile->payment_error) != 0) {
        str_copy(str_of(error), reconcile->payment_error, sizeof(reconcile->payment_error));
        log_event(LOG_LEVEL_ERROR, "payments.unusable", LOG_FIELDS(LOG_TEXT("why", error)));
    }
    return false;
}

/* A look-up may take as long as the provider's timeout. Not while another reconcile recovers the
 * queues: the next pass would be overtaken again. */
static bool queues_wait(struct reconcile *reconcile)
{
    return !reconcile->report.overtaken && reconcile_tenures_changed(reconcile);
}

void reconcile_payments(struct reconcile *reconcile)
{
    /* Without its provider every payment would be taken for another provider's. */
    if (!reconcile_payments_open(reconcile)) {
        reconcile->report.payments_unusable = true;
        return;
    }
    const struct payment_flow flow = {
        .settings = reconcile->settings,
        .postgres = reconcile->postgres,
        .redis = reconcile->redis,
        .provider = reconcile->payment_provider,
    };
    /* A recovery that keeps failing must not leave one payment to each pass. */
    bool unrecovered = reconcile->report.unrecovered && queues_wait(reconcile);
    int64_t end_ms = clock_monotonic_ms() + (unrecovered ? LONGEST_UNRECOVERED_MS : LONGEST_MS);

    while (settle_next(reconcile, &flow) && clock_monotonic_ms() < end_ms &&
           (unrecovered || !queues_wait(reconcile))) {
    }
}

void reconcile_payments_for_person(struct reconcile *reconcile)
{
    const struct payment_filter filter = {.stuck = true};
    struct reconcile_report *report = &reconcile->report;

    if (payment_admin_page(reconcile->postgres, reconcile->arena, &filter, PAYMENT_PAGE_MAX,
                           &report->for_person, &report->for_person_count) != POSTGRES_OK) {
        report->postgres_silent = true;
    }
}
