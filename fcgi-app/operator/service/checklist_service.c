#include <inttypes.h>
#include <string.h>
#include <sys/statvfs.h>

#include "fcgi-app/operator/service/checklist.h"
#include "lib/admission/line/order_pool.h"
#include "lib/base/clock.h"
#include "lib/identity/certificate.h"
#include "lib/store/redis.h"
#include "lib/store/redis_time.h"

enum {
    SLOW_MS = 100, /* for an answer that should take less than one */
    CLOCK_WARN_MS = 500,
    CLOCK_FAIL_MS = 5000,
    RECONCILE_WARN_MS = 2 * 60 * 1000,
    RECONCILE_FAIL_MS = 10 * 60 * 1000,
    OUTBOX_WARN_MS = 30 * 1000,
    OUTBOX_FAIL_MS = 120 * 1000,
    DISK_WARN_PERCENT = 15,
    DISK_FAIL_PERCENT = 5,
    DAY_S = 86400,
    CERTIFICATE_WARN_DAYS = 14,
    CERTIFICATE_FAIL_DAYS = 2
};

static enum check_state by_limits(int64_t value, int64_t warn, int64_t fail)
{
    return value >= fail ? CHECK_FAIL : value >= warn ? CHECK_WARN : CHECK_OK;
}

static int64_t apart(int64_t a, int64_t b)
{
    return a > b ? a - b : b - a;
}

/* Returns the host's time in the middle of the call, to compare clocks. */
static int64_t check_redis(struct checklist *list)
{
    const struct services *services = list->services;
    int64_t wall = clock_wall_ms();
    int64_t before = clock_monotonic_ms();

    list->redis_answers = redis_time(services->redis, list->request->arena, &list->redis_ms);
    int64_t took = clock_monotonic_ms() - before;
    if (!list->redis_answers) {
        check_add(list, "redis", CHECK_FAIL,
                  "Start Redis, or check redis_socket: without it no one is admitted.",
                  "Redis does not answer: %s.", redis_error(services->redis));
    } else {
        check_add(list, "redis", took > SLOW_MS ? CHECK_WARN : CHECK_OK,
                  "Find out what slows Redis down: SLOWLOG GET, other users of it, swapping.",
                  "Redis answers in %" PRId64 " ms.", took);
    }
    return wall + took / 2;
}

static int64_t check_postgres(struct checklist *list)
{
    const struct services *services = list->services;
    int64_t wall = clock_wall_ms();
    int64_t before = clock_monotonic_ms();

    list->postgres_answers = service_figures_read(services->postgres, list->request->arena,
                                                  &list->figures) == POSTGRES_OK;
    int64_t took = clock_monotonic_ms() - before;
    if (!list->postgres_answers) {
        check_add(list, "postgres", CHECK_FAIL,
                  "Start PostgreSQL, or check postgres_conninfo and the migrations: no one can "
                  "order, and queues cannot be checked here.",
                  "PostgreSQL does not answer.");
    } else if (list->figures.is_standby) {
        check_add(list, "postgres", CHECK_FAIL,
                  "Point postgres_conninfo to the primary (target_session_attrs=read-write).",
                  "PostgreSQL is a standby and takes no orders.");
    } else {
        check_add(list, "postgres", took > SLOW_MS ? CHECK_WARN : CHECK_OK,
                  "Check its load, its locks (pg_stat_activity) and its disk.",
                  "PostgreSQL answers in %" PRId64 " ms.", took);
    }
    return wall + took / 2;
}

static void check_clocks(struct checklist *list, int64_t at_redis, int64_t at_postgres)
{
    int64_t redis = list->redis_answers ? apart(at_redis, list->redis_ms) : 0;
    int64_t postgres = list->postgres_answers ? apart(at_postgres, list->figures.now_ms) : 0;
    int64_t worst = redis > postgres ? redis : postgres;

    if (!list->redis_answers && !list->postgres_answers) {
        return;
    }
    check_add(list, "clock", by_limits(worst, CLOCK_WARN_MS, CLOCK_FAIL_MS),
              "Let chrony or systemd-timesyncd set the clocks: openings follow Redis's clock, "
              "logins this host's.",
              "This host's clock and Redis's are %" PRId64 " ms apart, PostgreSQL's %" PRId64
              " ms.",
              redis, postgres);
}

static void check_order_pool(struct checklist *list)
{
    struct order_pool_life life;
    int64_t silence = list->services->settings->order_pool_silence_ms;

    if (!list->redis_answers ||
        !order_pool_read_life(list->services->redis, list->request->arena, &life)) {
        return;
    }
    if (silence == 0) {
        check_add(list, "order-pool", CHECK_OK, "",
                  "order_pool_silence_ms is 0: admissions do not depend on the order pool.");
    } else if (life.seen_ms < 0) {
        check_add(list, "order-pool", CHECK_FAIL,
                  "Start the order pool: no one is admitted while orders cannot be placed.",
                  "The order pool has never sent a heartbeat.");
    } else {
        int64_t age = list->redis_ms > life.seen_ms ? list->redis_ms - life.seen_ms : 0;
        check_add(list, "order-pool", age > silence ? CHECK_FAIL : CHECK_OK,
                  "Check the order pool's log and PostgreSQL: no one is admitted meanwhile.",
                  "The order pool was heard %" PRId64 ".%" PRId64 " s ago.", age / 1000,
                  age % 1000 / 100);
    }
}

static void check_reconcile(struct checklist *list)
{
    int64_t ago = list->figures.reconciled_ago_ms;

    if (ago < 0) {
        check_add(list, "reconcile", CHECK_FAIL, "Run sluice-reconcile --every 10, or its timer.",
                  "sluice-reconcile has never finished a pass here.");
    } else {
        check_add(list, "reconcile", by_limits(ago, RECONCILE_WARN_MS, RECONCILE_FAIL_MS),
                  "Check sluice-reconcile's log: it completes what crashes have interrupted.",
                  "sluice-reconcile finished a pass %" PRId64 " s ago.", ago / 1000);
    }
    if (list->figures.outbox_rows == 0) {
        check_add(list, "outbox", CHECK_OK, "", "Everything has been published to Redis.");
    } else {
        check_add(list, "outbox",
                  by_limits(list->figures.outbox_oldest_ms, OUTBOX_WARN_MS, OUTBOX_FAIL_MS),
                  "Check sluice-reconcile's log and whether Redis answers.",
                  "%" PRId64 " changes are still to be published to Redis, the oldest for %" PRId64
                  " s.",
                  list->figures.outbox_rows, list->figures.outbox_oldest_ms / 1000);
    }
}

static void check_payments(struct checklist *list)
{
    int64_t stuck = list->figures.payments_stuck;

    check_add(list, "payments", stuck > 0 ? CHECK_WARN : CHECK_OK,
              "See sluicectl payments stuck, and settle each with the provider.",
              "%" PRId64 " payments need a person.", stuck);
}

static int free_percent(const char *path)
{
    struct statvfs found;

    if (path[0] == '\0' || statvfs(path, &found) != 0 || found.f_blocks == 0) {
        return 100;
    }
    return (int)(found.f_bavail * 100 / found.f_blocks);
}

static void check_disks(struct checklist *list)
{
    const struct settings *settings = list->services->settings;
    const char *const paths[] = {"/", settings->metrics_file, settings->board_directory,
                                 settings->catalog_l1_directory};
    const char *worst = paths[0];

    for (size_t i = 1; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (free_percent(paths[i]) < free_percent(worst)) {
            worst = paths[i];
        }
    }
    int percent = free_percent(worst);
    check_add(list, "disk",
              percent < DISK_FAIL_PERCENT   ? CHECK_FAIL
              : percent < DISK_WARN_PERCENT ? CHECK_WARN
                                            : CHECK_OK,
              "Free some space, logs first. Check the disks of Redis and PostgreSQL, too.",
              "%d %% are free on the disk of %s, the fullest of the checked ones on this host.",
              percent, worst);
}

static void check_certificate(struct checklist *list)
{
    const char *path = list->services->settings->tls_certificate_file;
    int64_t left;
    bool begun;

    if (path[0] == '\0') {
        check_add(list, "certificate", list->request->https ? CHECK_WARN : CHECK_OK,
                  "Set tls_certificate_file, so that its expiry is checked.",
                  list->request->https
                      ? "This site is served by TLS, but its certificate is not checked."
                      : "Not checked: this site is served by plain HTTP here, and "
                        "tls_certificate_file is not set.");
    } else if (!certificate_read(path, &left, &begun)) {
        check_add(list, "certificate", CHECK_FAIL,
                  "Check tls_certificate_file and its permissions.",
                  "%s cannot be read, or contains no certificate.", path);
    } else if (!begun || left <= 0) {
        check_add(list, "certificate", CHECK_FAIL,
                  "Renew the certificate and reload nginx: browsers refuse this one.",
                  left <= 0 ? "The certificate has expired." : "The certificate is not valid yet.");
    } else {
        int64_t days = left / DAY_S;
        check_add(list, "certificate",
                  days < CERTIFICATE_FAIL_DAYS   ? CHECK_FAIL
                  : days < CERTIFICATE_WARN_DAYS ? CHECK_WARN
                                                 : CHECK_OK,
                  "Renew the certificate and reload nginx, well before the opening.",
                  "The certificate is good for %" PRId64 " more days.", days);
    }
}

void checklist_service(struct checklist *list)
{
    int64_t at_redis = check_redis(list);
    int64_t at_postgres = check_postgres(list);

    check_clocks(list, at_redis, at_postgres);
    check_order_pool(list);
    if (list->postgres_answers) {
        check_reconcile(list);
        check_payments(list);
    }
    check_disks(list);
    check_certificate(list);
}
