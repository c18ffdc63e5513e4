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
#include "lib/admission/line/order_pool.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/database/outbox/outbox_acks.h"
#include "lib/store/postgres.h"

enum {
    BEAT_MS = 500,
    /* Before a worker with a transaction in the database accepts another request: lets an idle
     * worker take it. */
    YIELD_US = 100,
    /* A transaction that has taken this long may take longer: the next request is better served by
     * another worker. */
    STALLED_US = 50000
};

/* One request and its state. */
struct slot {
    FCGX_Request fcgi;
    struct exchange *exchange;
    struct transaction transaction;
    int fd; /* while CONNECTED */
    enum {
        IS_EMPTY,
        IS_CONNECTED, /* nothing is read yet */
        IS_WHOLE,     /* read; nothing is done yet */
        IS_PREPARED,  /* its call is to be sent */
        IS_IN_FLIGHT, /* its call is sent */
        IS_ALONE      /* its second half does everything itself */
    } state;
};

struct worker {
    const struct services *services;
    struct slot slots[2]; /* one in the database, and the one after it */
    struct arena *arena;  /* of the heartbeat */
    sigset_t open_mask;
    int64_t beat_at_ms; /* when the next heartbeat is due */
};

/* The queues promote only while orders can be taken, which the order pool's heartbeat in Redis
 * confirms. */
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
        (void)order_pool_beat(services->redis, worker->arena,
                              services->settings->order_pool_silence_ms);
    }
    abandoned_claims_release(services, worker->arena, clock_monotonic_ms());
    outbox_acks_flush(services->outbox_acks, services->postgres, worker->arena,
                      OUTBOX_ACKS_FLUSH_MS);
    arena_reset(worker->arena);
}

/* Log lines from here on are about this request, or about none. */
static void set_log_request(const struct slot *slot)
{
    if (slot == NULL) {
        log_set_request(str_sized(NULL, 0), str_sized(NULL, 0));
        return;
    }
    log_set_request(slot->exchange->request.request_id, slot->exchange->request.traceparent);
}

/* Reads a request: then it is WHOLE, or EMPTY if its response is already complete. Returns false if
 * there is none on this connection. */
static bool read_request(const struct services *services, struct slot *slot)
{
    struct exchange *exchange = slot->exchange;
    size_t body_max = services->pool == POOL_OPERATOR ? OPERATOR_BODY_MAX : BODY_MAX;

    slot->state = IS_EMPTY;
    int64_t waited_ms = listener_waited_ms(slot->fd);
    listener_attach(&slot->fcgi, slot->fd);
    if (FCGX_Accept_r(&slot->fcgi) != 0) {
        return false;
    }
    /* Whatever nginx asks for: a kept connection would starve all others. */
    slot->fcgi.keepConnection = 0;
    if (exchange_begin(exchange, services->pool, body_max, &slot->fcgi, clock_monotonic_ms())) {
        exchange->request.waited_ms = waited_ms >= 0 ? waited_ms : exchange->request.waited_ms;
        slot->state = IS_WHOLE;
    }
    return true;
}

/* The response is complete. */
static void answer(struct slot *slot)
{
    set_log_request(slot);
    exchange_send(slot->exchange, &slot->fcgi, clock_monotonic_ms());
    FCGX_Finish_r(&slot->fcgi);
    set_log_request(NULL);
    exchange_clear(slot->exchange);
    slot->state = IS_EMPTY;
}

/* Refuses a request that has waited too long for this worker, before any work is done for it. */
static bool is_refused(const struct services *services, struct exchange *exchange)
{
    enum shed_kind kind = shedding_kind(exchange->route);

    if (!shedding_by_wait(services->settings, kind, exchange->request.waited_ms)) {
        return false;
    }
    shedding_answer(services->pool, kind, &exchange->request, &exchange->response);
    return true;
}

/* The first half of a transaction; answers the request if there is to be none. */
static void begin(const struct services *services, struct slot *slot)
{
    struct exchange *exchange = slot->exchange;
    enum transaction_begun begun = TRANSACTION_ANSWERED;

    set_log_request(slot);
    if (!is_refused(services, exchange)) {
        begun = exchange->route->transaction_begin(services, &exchange->request,
                                                   &exchange->response, &slot->transaction);
    }
    exchange->member = request_log_take_member();
    if (begun == TRANSACTION_ANSWERED) {
        answer(slot);
    } else {
        slot->state = begun == TRANSACTION_PREPARED ? IS_PREPARED : IS_ALONE;
    }
    set_log_request(NULL);
}

static void handle(const struct services *services, struct slot *slot)
{
    struct exchange *exchange = slot->exchange;

    set_log_request(slot);
    if (!is_refused(services, exchange)) {
        exchange->route->handler(services, &exchange->request, &exchange->response);
    }
    exchange->member = request_log_take_member();
    answer(slot);
}

/* The second half of a transaction. */
static void end(const struct services *services, struct slot *slot)
{
    struct exchange *exchange = slot->exchange;

    set_log_request(slot);
    exchange->route->transaction_end(services, &exchange->request, &exchange->response,
                                     &slot->transaction);
    answer(slot);
}

static void send_if_prepared(const struct services *services, struct slot *slot)
{
    if (slot->state == IS_PREPARED) {
        set_log_request(slot);
        postgres_send(services->postgres, &slot->transaction.call);
        set_log_request(NULL);
        slot->state = IS_IN_FLIGHT;
    }
}

/* Reads the request on a new connection and does as much of it as is allowed while another is in
 * the database. */
static void start_request(const struct services *services, struct slot *slot)
{
    if (!read_request(services, slot)) {
        return;
    }
    if (slot->state == IS_EMPTY) {
        answer(slot);
    } else if (slot->exchange->route->transaction_begin != NULL) {
        begin(services, slot);
    }
}

/* Which of the two becomes readable, the answer first, until `deadline_us` (monotonic); -1 for
 * none. */
static int first_of(int answer_fd, int other_fd, int64_t deadline_us)
{
    struct pollfd watched[] = {{.fd = answer_fd, .events = POLLIN},
                               {.fd = other_fd, .events = POLLIN}};
    int64_t left_us = deadline_us - clock_monotonic_us();
    /* Less than a second. */
    const struct timespec wait = {.tv_nsec = left_us < 0 ? 0 : (long)left_us * 1000};

    if (ppoll(watched, 2, &wait, NULL) <= 0) {
        return -1;
    }
    return watched[0].revents != 0 ? answer_fd : other_fd;
}

/* Accepts a connection that other workers had time to accept; -1 once the answer is there or has
 * taken long. */
static int accept_unclaimed(int answer_fd, int64_t stalled_us)
{
    if (first_of(answer_fd, LISTENER_FD, stalled_us) != LISTENER_FD ||
        first_of(answer_fd, -1, clock_monotonic_us() + YIELD_US) == answer_fd ||
        clock_monotonic_us() >= stalled_us) {
        return -1;
    }
    return listener_accept();
}

/* Accepts another request while PostgreSQL works for the first, if no other worker takes it.
 * Returns once that is done, the answer is there, or the time for it is over. */
static void start_next_meanwhile(struct worker *worker, const struct slot *first, struct slot *next)
{
    const struct services *services = worker->services;
    int answer_fd = postgres_awaits(services->postgres);
    int64_t stalled_us = first->transaction.call.sent_us + STALLED_US;

    while (next->state == IS_EMPTY && answer_fd >= 0) {
        stop_signal_look(&worker->open_mask, clock_monotonic_ms());
        if (stop_signal_came()) {
            return;
        }
        next->fd = accept_unclaimed(answer_fd, stalled_us);
        if (next->fd < 0) {
            return;
        }
        next->state = IS_CONNECTED;
        /* Does not block on input that nginx has not sent: the answer may come before it. */
        if (first_of(answer_fd, next->fd, stalled_us) == next->fd) {
            start_request(services, next);
        }
        answer_fd = postgres_awaits(services->postgres);
    }
}

/* The connection works: no reconnect is needed. */
static bool is_answered(const struct postgres_call *call)
{
    return call->outcome == POSTGRES_OK || call->outcome == POSTGRES_REFUSED;
}

/* Completes `slot`, and meanwhile does what is allowed for `next`, which is empty. */
static void finish_request(struct worker *worker, struct slot *slot, struct slot *next)
{
    const struct services *services = worker->services;

    if (slot->state == IS_CONNECTED) {
        start_request(services, slot);
    }
    send_if_prepared(services, slot);
    switch (slot->state) {
    case IS_EMPTY:
    case IS_CONNECTED:
    case IS_PREPARED:
        return;
    case IS_WHOLE:
        handle(services, slot);
        return;
    case IS_ALONE:
        end(services, slot);
        return;
    case IS_IN_FLIGHT:
        start_next_meanwhile(worker, slot, next);
        set_log_request(slot);
        postgres_finish(services->postgres, &slot->transaction.call);
        if (is_answered(&slot->transaction.call)) {
            /* First, so that the database does not wait. */
            send_if_prepared(services, next);
        }
        end(services, slot);
        return;
    }
}

/* The next connection: without waiting if one is pending, as is usual in a busy pool. -1 after a
 * heartbeat or a signal. */
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

/* Serves the one on `fd` and all that are accepted after it. */
static void serve_from(struct worker *worker, int fd)
{
    size_t at = 0;

    worker->slots[at].fd = fd;
    worker->slots[at].state = IS_CONNECTED;
    while (worker->slots[at].state != IS_EMPTY) {
        finish_request(worker, &worker->slots[at], &worker->slots[1 - at]);
        at = 1 - at;
        beat_if_due(worker);
    }
}

int blocking_loop_run(const struct services *services)
{
    struct worker worker = {
        .services = services,
        .slots = {{.exchange = exchange_new()}, {.exchange = exchange_new()}},
        .arena = arena_new(),
    };

    stop_signal_install(&worker.open_mask);
    log_event(LOG_LEVEL_INFO, "worker.started", LOG_NO_FIELDS);
    while (!stop_signal_came()) {
        beat_if_due(&worker);
        int fd = next_connection(&worker.open_mask);
        if (fd >= 0) {
            serve_from(&worker, fd);
        }
    }
    if (services->outbox_acks != NULL) {
        outbox_acks_flush(services->outbox_acks, services->postgres, worker.arena, 0);
    }
    log_event(LOG_LEVEL_INFO, "worker.stopped", LOG_NO_FIELDS);
    arena_free(worker.arena);
    exchange_free(worker.slots[1].exchange);
    exchange_free(worker.slots[0].exchange);
    return 0;
}
