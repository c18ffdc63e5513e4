#include "fcgi-app/pool/blocking_loop.h"

#include <poll.h>
#include <time.h>

#include "fcgi-app/http/request_log.h"
#include "fcgi-app/order/abandoned_claims.h"
#include "fcgi-app/pool/exchange.h"
#include "fcgi-app/pool/listener.h"
#include "fcgi-app/pool/pool_metrics.h"
#include "fcgi-app/pool/shedding.h"
#include "fcgi-app/pool/stop_signal.h"
#include "lib/admission/claim.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/orders/told_rows.h"
#include "lib/store/postgres.h"

enum { BEAT_MS = 500 };

struct worker {
    const struct services *services;
    struct exchange *exchange;
    int64_t beat_at_ms; /* when the next sign of life is due */
};

/* The queues promote only while orders can be taken, so the order pool's sign of life in Redis says just that. */
static void beat_if_due(struct worker *worker)
{
    const struct services *services = worker->services;

    if (clock_monotonic_ms() < worker->beat_at_ms) {
        return;
    }
    worker->beat_at_ms = clock_monotonic_ms() + BEAT_MS;
    pool_metrics_beat(services->pool);
    if (services->pool != POOL_ORDER) {
        return;
    }
    if (postgres_commits(services->postgres)) {
        (void)order_pool_beat(services->redis, worker->exchange->arena,
                              services->settings->order_pool_silence_ms);
    }
    abandoned_claims_release(services, worker->exchange->arena, clock_monotonic_ms());
    told_rows_flush(services->told, services->postgres, worker->exchange->arena, TOLD_ROWS_REST_MS);
    exchange_clear(worker->exchange);
}

/* What has waited too long for this worker is refused before anything is done for it. */
static void serve_or_refuse(const struct services *services, struct exchange *exchange)
{
    enum shed_kind kind = shedding_kind(exchange->route);

    if (shedding_by_wait(services->settings, kind, exchange->request.waited_ms)) {
        shedding_answer(services->pool, kind, &exchange->request, &exchange->response);
    } else {
        exchange->route->handler(services, &exchange->request, &exchange->response);
    }
}

static void serve(struct worker *worker, int fd)
{
    const struct services *services = worker->services;
    struct exchange *exchange = worker->exchange;
    size_t body_max = services->pool == POOL_OPERATOR ? OPERATOR_BODY_MAX : BODY_MAX;
    FCGX_Request fcgi;

    int64_t waited_ms = listener_waited_ms(fd);
    listener_attach(&fcgi, fd);
    if (FCGX_Accept_r(&fcgi) != 0) {
        return;
    }
    /* Whatever nginx asks for: a connection kept here would starve all others. */
    fcgi.keepConnection = 0;
    if (exchange_begin(exchange, services->pool, body_max, &fcgi, clock_monotonic_ms())) {
        log_set_request(exchange->request.request_id, exchange->request.traceparent);
        exchange->request.waited_ms = waited_ms >= 0 ? waited_ms : exchange->request.waited_ms;
        serve_or_refuse(services, exchange);
        exchange->member = request_log_take_member();
    }
    exchange_send(exchange, &fcgi, clock_monotonic_ms());
    FCGX_Finish_r(&fcgi);
    log_set_request(str_sized(NULL, 0), str_sized(NULL, 0));
    exchange_clear(exchange);
}

/* The next connection: at once where one waits, as in a busy pool one mostly does. -1 after a beat or a signal. */
static int next_connection(const sigset_t *open_mask)
{
    const struct timespec beat = {.tv_nsec = BEAT_MS * 1000000L};
    struct pollfd listener = {.fd = LISTENER_FD, .events = POLLIN};

    stop_signal_look(open_mask, clock_monotonic_ms());
    if (stop_signal_came()) {
        return -1;
    }
    int fd = listener_accept();
    if (fd < 0 && ppoll(&listener, 1, &beat, open_mask) > 0) {
        fd = listener_accept();
    }
    return fd;
}

int blocking_loop_run(const struct services *services)
{
    struct worker worker = {.services = services, .exchange = exchange_new()};
    sigset_t open_mask;

    stop_signal_install(&open_mask);
    log_event(LOG_LEVEL_INFO, "worker.started", LOG_NO_FIELDS);
    while (!stop_signal_came()) {
        beat_if_due(&worker);
        int fd = next_connection(&open_mask);
        if (fd >= 0) {
            serve(&worker, fd);
        }
    }
    if (services->told != NULL) {
        told_rows_flush(services->told, services->postgres, worker.exchange->arena, 0);
    }
    log_event(LOG_LEVEL_INFO, "worker.stopped", LOG_NO_FIELDS);
    exchange_free(worker.exchange);
    return 0;
}
