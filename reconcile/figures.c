/* Exports the results of a pass and the totals of the books in the metrics of this host. */
#include "lib/base/clock.h"
#include "lib/database/service/books.h"
#include "lib/metrics/metrics.h"
#include "reconcile/reconcile.h"

enum { BOOKS_EVERY_MS = 15000 };

static void count_findings(const struct reconcile_report *report)
{
    const struct {
        enum metric metric;
        int64_t number;
    } findings[] = {
        {METRIC_FOUND_QUEUE_PUBLISHED, report->queues_published},
        {METRIC_FOUND_QUEUE_RECOVERED, report->queues_recovered},
        {METRIC_FOUND_CLAIM_RELEASED, report->claims_released},
        {METRIC_FOUND_CLAIM_CONSUMED, report->claims_consumed},
        {METRIC_FOUND_CLAIM_OPEN, report->claims_open},
        {METRIC_FOUND_OUTBOX_DONE, report->outbox_done},
        {METRIC_FOUND_OUTBOX_STUCK, report->outbox_stuck},
        {METRIC_FOUND_ORDER_EXPIRED, report->orders_expired},
        {METRIC_FOUND_PAYMENT_SETTLED, report->payments_settled},
        {METRIC_FOUND_PAYMENT_OPEN, report->payments_open},
        {METRIC_FOUND_PLACE_MENDED, report->places_mended},
        {METRIC_FOUND_PLACE_FREED, report->places_freed},
        {METRIC_FOUND_LOTTERY_DRAWN, report->lotteries_drawn},
        {METRIC_FOUND_CODE_LOADED, report->codes_loaded},
        {METRIC_FOUND_COUPON_MENDED, report->coupons_mended},
        {METRIC_FOUND_SHOW_LOADED, report->shows_loaded},
        {METRIC_FOUND_SEAT_PUBLISHED, report->seats_published},
        {METRIC_FOUND_SEAT_CORRECTED, report->seats_corrected},
        {METRIC_RECONCILE_REDIS_SILENT, report->redis_silent && !report->overtaken ? 1 : 0},
        {METRIC_RECONCILE_POSTGRES_SILENT, report->postgres_silent ? 1 : 0},
    };

    for (size_t i = 0; i < sizeof(findings) / sizeof(findings[0]); i++) {
        metrics_add(findings[i].metric, findings[i].number);
    }
    metrics_set(METRIC_RECONCILE_NEEDS_PERSON, reconcile_needs_person(report) ? 1 : 0);
}

/* Does not compile if a state has no row in the metrics. */
static void show(const struct books *books)
{
#define STATE(name, is_open, may_hold_money, meaning)                                              \
    metrics_set(METRIC_PAYMENTS_##name, books->payments[PAYMENT_PHASE_##name]);
#define TRANSITION(from, to, cause)
#include "lib/database/payments/payment_states.tbl"
#undef TRANSITION
#undef STATE
    metrics_set(METRIC_PAYMENTS_STUCK, books->payments_stuck);
    metrics_set(METRIC_OUTBOX_CONSUMES, books->outbox_consumes);
    metrics_set(METRIC_OUTBOX_OTHERS, books->outbox_others);
    metrics_set(METRIC_OUTBOX_FAILED, books->outbox_failed);
    metrics_set(METRIC_OUTBOX_OLDEST, books->outbox_oldest_seconds);
    metrics_set_now(METRIC_BOOKS_AT);
}

void reconcile_figures(struct reconcile *reconcile, int64_t began_us)
{
    int64_t now_ms = clock_monotonic_ms();
    struct books books;

    metrics_observe_us(HISTOGRAM_RECONCILE_PASS, clock_monotonic_us() - began_us);
    count_findings(&reconcile->report);
    metrics_set_now(METRIC_RECONCILE_LAST_PASS);
    if (reconcile->books_at_ms != 0 && now_ms - reconcile->books_at_ms < BOOKS_EVERY_MS) {
        return;
    }
    if (books_read(reconcile->postgres, reconcile->arena, &books) == POSTGRES_OK) {
        reconcile->books_at_ms = now_ms;
        show(&books);
    }
}
