/*
 * sluice-fcgi — the FastCGI worker: one process, one pool, listening on file descriptor 0.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <fcgiapp.h>

#include "fcgi-app/gate/page/waiting_page.h"
#include "fcgi-app/http/operator_keys.h"
#include "fcgi-app/http/request_log.h"
#include "fcgi-app/pool/batching.h"
#include "fcgi-app/pool/blocking_loop.h"
#include "fcgi-app/pool/event_loop.h"
#include "fcgi-app/pool/listener.h"
#include "fcgi-app/pool/services.h"
#include "fcgi-app/pool/stop_signal.h"
#include "lib/admission/snapshot/snapshot.h"
#include "lib/base/log.h"
#include "lib/captcha/siteverify.h"
#include "lib/catalog/catalog.h"
#include "lib/database/outbox/outbox_acks.h"
#include "lib/identity/key_set.h"
#include "lib/identity/member_jwt.h"
#include "lib/metrics/metrics.h"
#include "lib/payments/payment_provider.h"
#include "lib/settings/program_options.h"
#include "lib/store/confinement.h"
#include "lib/store/postgres.h"
#include "lib/store/postgres_reach.h"
#include "lib/store/redis.h"

/* multiwatch restarts a worker immediately, however often it exits. */
enum { RESTART_PAUSE_MS = 1000 };

static const char *const QUEUE_NEEDS[] = {SETTINGS_REDIS, "queue_ticket_keys_file",
                                          "visitor_keys_file", "waiting_room_directory", NULL};
static const char *const ORDER_NEEDS[] = {SETTINGS_REDIS, "postgres_conninfo", "visitor_keys_file",
                                          NULL};
static const char *const CATALOG_NEEDS[] = {SETTINGS_REDIS, "postgres_conninfo",
                                            "visitor_keys_file", NULL};
static const char *const OPERATOR_NEEDS[] = {SETTINGS_REDIS, "postgres_conninfo", "admin_key_file",
                                             "queue_ticket_keys_file", NULL};

static const char *const PAYMENT_NEEDS[] = {SETTINGS_REDIS, "postgres_conninfo",
                                            "visitor_keys_file", NULL};

/* The settings of files that each pool reads again when they change. */
static const char *const QUEUE_READS[] = {"queue_ticket_keys_file",
                                          "visitor_keys_file",
                                          "member_jwt_key_file",
                                          "member_jwks_file",
                                          "waiting_room_directory",
                                          "waiting_room_theme_directory",
                                          NULL};
static const char *const MEMBER_READS[] = {"visitor_keys_file", "member_jwt_key_file",
                                           "member_jwks_file", NULL};
static const char *const ORDER_READS[] = {"visitor_keys_file",   "member_jwt_key_file",
                                          "member_jwks_file",    "altcha_keys_file",
                                          "captcha_secret_file", NULL};
static const char *const OPERATOR_READS[] = {"queue_ticket_keys_file", "visitor_keys_file",
                                             "admin_key_file",         "viewer_key_file",
                                             "tls_certificate_file",   NULL};
static const char *const PAYMENT_READS[] = {"visitor_keys_file", "member_jwt_key_file",
                                            "member_jwks_file", "payment_secret_key_file", NULL};

static const struct {
    const char *name;
    const char *const *needs;
    const char *const *reads;
} POOLS[] = {
    [POOL_QUEUE] = {"queue", QUEUE_NEEDS, QUEUE_READS},
    [POOL_ORDER] = {"order", ORDER_NEEDS, ORDER_READS},
    [POOL_OPERATOR] = {"operator", OPERATOR_NEEDS, OPERATOR_READS},
    [POOL_CATALOG] = {"catalog", CATALOG_NEEDS, MEMBER_READS},
    [POOL_PAYMENT] = {"payment", PAYMENT_NEEDS, PAYMENT_READS},
};

static struct program_option pool_option = {.name = "pool",
                                            .argument = "queue|order|payment|catalog|operator",
                                            .description = "which routes to serve"};

/* The pool that --pool names, -1 if it names none. */
static int pool_of_option(void)
{
    for (int i = 0; i < (int)(sizeof(POOLS) / sizeof(POOLS[0])); i++) {
        if (pool_option.value != NULL && strcmp(pool_option.value, POOLS[i].name) == 0) {
            return i;
        }
    }
    return -1;
}

static void services_close(struct services *services)
{
    waiting_page_free(services->waiting_page);
    snapshot_close(services->snapshot);
    catalog_close(services->catalog);
    postgres_free(services->postgres);
    redis_free(services->redis);
    operator_keys_free(services->operators);
    siteverify_close(services->siteverify);
    payment_provider_close(services->payment_provider);
    key_set_free(services->altcha_keys);
    key_set_free(services->visitor_keys);
    key_set_free(services->ticket_keys);
    member_verifier_free(services->members);
}

/* Opens what the order pool checks captchas with, as far as it is set. Returns false, with a
 * sentence, if it is not usable. */
static bool captchas_open(struct services *services, char error[HTTP_CLIENT_ERROR])
{
    const struct settings *settings = services->settings;

    if (services->pool != POOL_ORDER) {
        return true;
    }
    if (settings->altcha_keys_file[0] != '\0') {
        services->altcha_keys = key_set_open(settings->altcha_keys_file, error);
        if (services->altcha_keys == NULL) {
            return false;
        }
    } else if (strcmp(settings->captcha_fallback, "altcha") == 0) {
        (void)snprintf(error, HTTP_CLIENT_ERROR,
                       "altcha_keys_file must be set if captcha_fallback is altcha");
        return false;
    }
    if (settings->captcha_siteverify_url[0] != '\0') {
        services->siteverify = siteverify_open(settings, error);
        return services->siteverify != NULL;
    }
    return true;
}

/* Opens the payment provider, in the pool that calls it. Returns false, with a sentence, if it is
 * not usable. */
static bool payments_open(struct services *services, char error[PAYMENT_PROVIDER_ERROR])
{
    return services->pool != POOL_PAYMENT ||
           payment_provider_open(services->settings, &services->payment_provider, error);
}

/* Reads the keys that the pool needs. Returns false, with a sentence, if one is not usable. */
static bool keys_open(struct services *services, char error[SECRET_ERROR])
{
    const struct settings *settings = services->settings;

    if (services->pool == POOL_QUEUE || services->pool == POOL_OPERATOR) {
        services->ticket_keys = key_set_open(settings->queue_ticket_keys_file, error);
        if (services->ticket_keys == NULL) {
            return false;
        }
    }
    if (services->pool == POOL_OPERATOR) {
        /* For dry runs alone, which otherwise cannot identify a visitor by the cookie. */
        if (settings->visitor_keys_file[0] != '\0') {
            services->visitor_keys = key_set_open(settings->visitor_keys_file, error);
            if (services->visitor_keys == NULL) {
                return false;
            }
        }
        services->operators = operator_keys_open(settings, error);
        return services->operators != NULL;
    }
    services->members = member_verifier_new(settings, error);
    if (services->members == NULL) {
        return false;
    }
    services->visitor_keys = key_set_open(settings->visitor_keys_file, error);
    if (services->visitor_keys == NULL) {
        return false;
    }
    return true;
}

/* Reads the waiting page, in the pool that serves it. Returns false, with a sentence, if it is not
 * usable. */
static bool page_open(struct services *services, char error[WAITING_PAGE_ERROR])
{
    if (services->pool != POOL_QUEUE) {
        return true;
    }
    services->waiting_page =
        waiting_page_open(services->settings->waiting_room_directory,
                          services->settings->waiting_room_theme_directory, error);
    return services->waiting_page != NULL;
}

_Static_assert((int)HTTP_CLIENT_ERROR <= (int)SETTINGS_ERROR &&
                   (int)PAYMENT_PROVIDER_ERROR <= (int)SETTINGS_ERROR,
               "one sentence fits where the other does");

static bool check_settings(const struct settings *settings, char error[SETTINGS_ERROR])
{
    int pool = pool_of_option();
    struct services services = {.pool = (enum pool)pool, .settings = settings};
    char fault[SECRET_ERROR];

    if (pool < 0) {
        return true;
    }
    bool usable = settings_require(settings, POOLS[pool].needs, error) &&
                  (pool == POOL_QUEUE || postgres_reach_check(settings, error));
    if (usable && !keys_open(&services, fault)) {
        (void)memccpy(error, fault, '\0', SECRET_ERROR);
        usable = false;
    }
    usable = usable && captchas_open(&services, error) && payments_open(&services, error) &&
             page_open(&services, error);
    services_close(&services);
    return usable;
}

static void stores_open(struct services *services)
{
    const struct settings *settings = services->settings;

    if (services->pool != POOL_QUEUE) {
        services->redis = redis_new(settings, settings->redis_timeout_ms);
        services->postgres = postgres_new(
            settings->postgres_conninfo, settings->statement_timeout_ms, settings->lock_timeout_ms);
    }
    if (services->pool == POOL_QUEUE && settings->snapshot_file[0] != '\0') {
        services->snapshot = snapshot_open(settings->snapshot_file);
        if (services->snapshot == NULL) {
            log_event(LOG_LEVEL_WARNING, "snapshot.unusable",
                      LOG_FIELDS(LOG_TEXT("why", strerror(errno))));
        }
    }
    if (services->pool == POOL_ORDER) {
        static struct outbox_acks acks;
        acks.redis = services->redis;
        services->outbox_acks = &acks;
    }
    if (services->pool == POOL_ORDER || services->pool == POOL_CATALOG) {
        services->catalog = catalog_open(settings, services->postgres);
    }
}

static int serve(enum pool pool, const struct settings *settings)
{
    struct services services = {.pool = pool, .settings = settings};
    enum log_level level = LOG_LEVEL_INFO;
    char error[SECRET_ERROR];
    char captcha_error[HTTP_CLIENT_ERROR];
    char payment_error[PAYMENT_PROVIDER_ERROR];
    char page_error[WAITING_PAGE_ERROR];

    (void)log_level_parse(str_of(settings->log_level), &level);
    request_log_start(level);
    metrics_start(settings->metrics_file);
    if (!keys_open(&services, error)) {
        log_event(LOG_LEVEL_ERROR, "keys.unusable", LOG_FIELDS(LOG_TEXT("why", error)));
        services_close(&services);
        return PROGRAM_BAD_CONFIG;
    }
    if (!captchas_open(&services, captcha_error)) {
        log_event(LOG_LEVEL_ERROR, "captcha.unusable", LOG_FIELDS(LOG_TEXT("why", captcha_error)));
        services_close(&services);
        return PROGRAM_BAD_CONFIG;
    }
    if (!payments_open(&services, payment_error)) {
        log_event(LOG_LEVEL_ERROR, "payments.unusable", LOG_FIELDS(LOG_TEXT("why", payment_error)));
        services_close(&services);
        return PROGRAM_BAD_CONFIG;
    }
    if (!page_open(&services, page_error)) {
        log_event(LOG_LEVEL_ERROR, "waiting_page.unusable",
                  LOG_FIELDS(LOG_TEXT("why", page_error)));
        services_close(&services);
        return PROGRAM_BAD_CONFIG;
    }
    if (pool == POOL_QUEUE) {
        batching_begin();
    }
    confine(settings, &(struct confinement){.reads = POOLS[pool].reads,
                                            .has_postgres = pool != POOL_QUEUE,
                                            .calls_others = services.siteverify != NULL ||
                                                            services.payment_provider != NULL});
    stores_open(&services);
    int code = pool == POOL_QUEUE ? event_loop_run(&services) : blocking_loop_run(&services);
    services_close(&services);
    return code;
}

static int run(struct program *program, int argc, char **argv)
{
    struct settings settings;
    int code = program_start(program, argc, argv, &settings);

    if (code != PROGRAM_GOES_ON) {
        return code;
    }
    int pool = pool_of_option();
    if (pool < 0) {
        code = program_usage_error(program,
                                   "--pool must be queue, order, payment, catalog or operator");
    } else if (!listener_prepare() || FCGX_Init() != 0) {
        code = program_usage_error(
            program, "file descriptor 0 is not a listening socket: start it with spawn-fcgi");
    } else {
        code = serve((enum pool)pool, &settings);
    }
    settings_free(&settings);
    return code;
}

int main(int argc, char **argv)
{
    struct program program = {
        .name = "sluice-fcgi",
        .summary = "Serves one pool of routes by FastCGI, on the listening socket that is file "
                   "descriptor 0.",
        .options = &pool_option,
        .option_count = 1,
        .check = check_settings,
    };
    int code = run(&program, argc, argv);

    bool is_refused = code == PROGRAM_BAD_CONFIG || (code == PROGRAM_USAGE && listener_is_given());
    if (is_refused && !program.only_asked) {
        stop_signal_wait(RESTART_PAUSE_MS);
    }
    return code;
}
