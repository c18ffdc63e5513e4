#include "reconcile/reconcile.h"

#include "lib/database/service/history_store.h"

void reconcile_pass(struct reconcile *reconcile)
{
    struct queue_row *queues;
    size_t count;

    reconcile->report = (struct reconcile_report){0};
    if (reconcile_tenures(reconcile)) {
        reconcile_publish(reconcile);
    } else {
        reconcile->report.unrecovered = true;
    }
    if (queue_store_list(reconcile->postgres, reconcile->arena, false, &queues, &count) !=
        POSTGRES_OK) {
        reconcile->report.postgres_silent = true;
        return;
    }
    /* First, as a lottery's opening waits for it. */
    for (size_t i = 0; i < count && !reconcile->report.redis_silent; i++) {
        reconcile_lottery(reconcile, &queues[i]);
    }
    for (size_t i = 0; i < count && !reconcile->report.redis_silent; i++) {
        reconcile_codes(reconcile, &queues[i]);
        reconcile_claims(reconcile, &queues[i]);
    }
    /* Expiring orders needs PostgreSQL only; its consequences go through the outbox. */
    reconcile_orders(reconcile);
    if (!reconcile->report.redis_silent) {
        reconcile_outbox(reconcile);
    }
    for (size_t i = 0; i < count && !reconcile->report.redis_silent; i++) {
        reconcile_drift(reconcile, &queues[i]);
        reconcile_coupons(reconcile, &queues[i]);
    }
    reconcile_shows_start(reconcile);
    for (size_t i = 0; i < count && !reconcile->report.redis_silent; i++) {
        reconcile_shows(reconcile, &queues[i]);
    }
    if (!reconcile->report.redis_silent) {
        reconcile_history(reconcile, queues, count);
    }
    reconcile_spent(reconcile);
    /* Last, as it waits for the payment provider. */
    reconcile_payments(reconcile);
    if (!reconcile->report.redis_silent && !reconcile->report.postgres_silent) {
        (void)pass_note(reconcile->postgres, reconcile->arena, "sluice-reconcile");
    }
}

bool reconcile_needs_person(const struct reconcile_report *report)
{
    return (report->redis_silent && !report->overtaken) || report->postgres_silent ||
           report->places_mended > 0 || report->outbox_stuck > 0 || report->seats_corrected > 0 ||
           report->payments_stuck > 0 || report->for_person_count > 0 || report->payments_unusable;
}
