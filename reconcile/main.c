/*
 * sluice-reconcile — the cleanup job: once (cron, a systemd timer), or every so many seconds.
 * With --once it prints what it did and exits with 1 if something needs a person.
 */
#include <stdio.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/shutdown.h"
#include "lib/metrics/metrics.h"
#include "lib/settings/program_options.h"
#include "lib/store/confinement.h"
#include "lib/store/postgres_reach.h"
#include "reconcile/reconcile.h"

enum { OPTION_ONCE, OPTION_EVERY, OPTION_COUNT };
enum { SHOWN_MAX = 20, LOOK_MS = 250 };

static const char *const READ_AGAIN[] = {"payment_secret_key_file", NULL};
static const char *const NEEDED[] = {SETTINGS_REDIS, "postgres_conninfo", NULL};

/* One line a payment; of very many only the first. */
static void print_for_person(const struct reconcile_report *report)
{
    size_t shown = report->for_person_count < SHOWN_MAX ? report->for_person_count : SHOWN_MAX;

    for (size_t i = 0; i < shown; i++) {
        const struct payment_seen *payment = &report->for_person[i];
        printf("needs a person: payment %.*s of order %.*s is %.*s: %.*s\n", STR_ARG(payment->id),
               STR_ARG(payment->order), STR_ARG(payment->state), STR_ARG(payment->last_error));
    }
    if (report->for_person_count > 0) {
        printf("needs a person: %zu%s payments; see sluicectl payments stuck\n",
               report->for_person_count,
               report->for_person_count == PAYMENT_PAGE_MAX ? " or more" : "");
    }
}

static void print_report(const struct reconcile_report *report)
{
    printf("queues published %lld, recovered %lld\n", (long long)report->queues_published,
           (long long)report->queues_recovered);
    printf("claims released %lld, consumed %lld, still open %lld\n",
           (long long)report->claims_released, (long long)report->claims_consumed,
           (long long)report->claims_open);
    printf("claims forgotten %lld\n", (long long)report->claims_forgotten);
    printf("outbox rows processed %lld, stuck %lld\n", (long long)report->outbox_done,
           (long long)report->outbox_stuck);
    printf("lotteries drawn %lld, codes loaded %lld\n", (long long)report->lotteries_drawn,
           (long long)report->codes_loaded);
    printf("shows loaded %lld, seats published %lld, corrected %lld\n",
           (long long)report->shows_loaded, (long long)report->seats_published,
           (long long)report->seats_corrected);
    printf("orders expired %lld\n", (long long)report->orders_expired);
    printf("coupons corrected %lld\n", (long long)report->coupons_mended);
    printf("payments settled %lld, still open %lld\n", (long long)report->payments_settled,
           (long long)report->payments_open);
    printf("places mended %lld, freed %lld\n", (long long)report->places_mended,
           (long long)report->places_freed);
    if (report->overtaken) {
        printf("another reconcile is recovering a queue\n");
    } else if (report->redis_silent) {
        printf("needs a person: Redis does not answer\n");
    }
    if (report->postgres_silent) {
        printf("needs a person: PostgreSQL does not answer\n");
    }
    if (report->payments_unusable) {
        printf("needs a person: payments cannot be looked up; see the log\n");
    }
    if (report->places_mended > 0) {
        printf("needs a person: places were inconsistent; something else writes to Redis\n");
    }
    if (report->seats_corrected > 0) {
        printf("needs a person: Redis had states of seats that PostgreSQL does not know; see the "
               "log\n");
    }
    if (report->outbox_stuck > 0) {
        printf("needs a person: rows of the outbox keep failing; see the log\n");
    }
    print_for_person(report);
}

static void log_report(const struct reconcile_report *report)
{
    bool needs_person = reconcile_needs_person(report);
    int64_t work = report->queues_published + report->queues_recovered + report->claims_released +
                   report->claims_consumed + report->claims_forgotten + report->outbox_done +
                   report->orders_expired + report->lotteries_drawn + report->codes_loaded +
                   report->coupons_mended + report->shows_loaded + report->seats_published +
                   report->payments_settled + report->payments_open;

    if (work == 0 && !needs_person) {
        return;
    }
    log_event(needs_person ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO, "reconcile.pass",
              LOG_FIELDS(LOG_INT("queuesPublished", report->queues_published),
                         LOG_INT("queuesRecovered", report->queues_recovered),
                         LOG_INT("claimsReleased", report->claims_released),
                         LOG_INT("claimsConsumed", report->claims_consumed),
                         LOG_INT("claimsOpen", report->claims_open),
                         LOG_INT("claimsForgotten", report->claims_forgotten),
                         LOG_INT("outboxDone", report->outbox_done),
                         LOG_INT("outboxStuck", report->outbox_stuck),
                         LOG_INT("ordersExpired", report->orders_expired),
                         LOG_INT("paymentsSettled", report->payments_settled),
                         LOG_INT("paymentsOpen", report->payments_open),
                         LOG_INT("paymentsStuck", report->payments_stuck),
                         LOG_INT("paymentsUnusable", report->payments_unusable),
                         LOG_INT("lotteriesDrawn", report->lotteries_drawn),
                         LOG_INT("codesLoaded", report->codes_loaded),
                         LOG_INT("couponsMended", report->coupons_mended),
                         LOG_INT("showsLoaded", report->shows_loaded),
                         LOG_INT("seatsPublished", report->seats_published),
                         LOG_INT("seatsCorrected", report->seats_corrected),
                         LOG_INT("placesMended", report->places_mended),
                         LOG_INT("placesFreed", report->places_freed),
                         LOG_INT("redisSilent", report->redis_silent),
                         LOG_INT("postgresSilent", report->postgres_silent)));
}

static void pass(struct reconcile *reconcile)
{
    int64_t began_us = clock_monotonic_us();

    reconcile_pass(reconcile);
    reconcile_figures(reconcile, began_us);
}

/* Waits between two passes, but not if a Redis has started a new tenure, unless another reconcile is
 * recovering its queues: the next pass would overtake that one. Returns whether to exit. */
static bool wait_or_notice(struct reconcile *reconcile, int64_t ms)
{
    int64_t until_ms = clock_monotonic_ms() + ms;
    int64_t left_ms = ms;
    bool changed = false;
    bool over = false;

    while (!over && !changed && left_ms > 0) {
        over = shutdown_wait(left_ms < LOOK_MS ? left_ms : LOOK_MS);
        changed = !over && !reconcile->report.overtaken && reconcile_tenures_changed(reconcile);
        arena_reset(reconcile->arena);
        left_ms = until_ms - clock_monotonic_ms();
    }
    return over;
}

static void run_until_shutdown(struct reconcile *reconcile, int64_t seconds)
{
    shutdown_prepare();
    log_event(LOG_LEVEL_INFO, "reconcile.started", LOG_FIELDS(LOG_INT("everySeconds", seconds)));
    do {
        pass(reconcile);
        log_report(&reconcile->report);
        arena_reset(reconcile->arena);
    } while (!wait_or_notice(reconcile, seconds * 1000));
    log_event(LOG_LEVEL_INFO, "reconcile.ended", LOG_NO_FIELDS);
}

int main(int argc, char **argv)
{
    struct program_option options[OPTION_COUNT] = {
        [OPTION_ONCE] = {.name = "once", .description = "one pass, then a report"},
        [OPTION_EVERY] = {.name = "every",
                          .argument = "SECONDS",
                          .description = "a pass every SECONDS (1..86400), until SIGTERM"},
    };
    struct program program = {
        .name = "sluice-reconcile",
        .summary = "Completes what crashes have interrupted between Redis and PostgreSQL.",
        .options = options,
        .option_count = OPTION_COUNT,
        .required = NEEDED,
        .check = postgres_reach_check,
    };
    struct settings settings;
    int64_t seconds = 0;
    int code = program_start(&program, argc, argv, &settings);

    if (code != PROGRAM_GOES_ON) {
        return code;
    }
    if ((options[OPTION_ONCE].value == NULL) == (options[OPTION_EVERY].value == NULL)) {
        return program_usage_error(&program, "give either --once or --every SECONDS");
    }
    if (options[OPTION_EVERY].value != NULL &&
        !str_to_int64(str_of(options[OPTION_EVERY].value), 1, 86400, &seconds)) {
        return program_usage_error(&program, "--every takes a whole number of seconds, 1 to 86400");
    }
    metrics_start(settings.metrics_file);
    struct reconcile reconcile = {
        .settings = &settings,
        .redis = redis_new_unguarded(&settings, settings.redis_timeout_ms),
        .postgres = postgres_new(settings.postgres_conninfo, settings.statement_timeout_ms,
                                 settings.lock_timeout_ms),
        .arena = arena_new(),
    };
    reconcile.outbox_acks.redis = reconcile.redis;
    /* Each pass opens it otherwise: recoveries must not wait for its key. */
    (void)reconcile_payments_open(&reconcile);
    confine(&settings,
            &(struct confinement){.reads = READ_AGAIN,
                                  .has_postgres = true,
                                  .calls_others = strcmp(settings.payment_provider, "none") != 0});
    if (seconds > 0) {
        run_until_shutdown(&reconcile, seconds);
        code = PROGRAM_OK;
    } else {
        reconcile.thorough = true;
        pass(&reconcile);
        reconcile_payments_for_person(&reconcile);
        print_report(&reconcile.report);
        code = reconcile_needs_person(&reconcile.report) ? PROGRAM_NEEDS_PERSON : PROGRAM_OK;
    }
    payment_provider_close(reconcile.payment_provider);
    redis_free(reconcile.redis);
    postgres_free(reconcile.postgres);
    arena_free(reconcile.arena);
    settings_free(&settings);
    return code;
}
