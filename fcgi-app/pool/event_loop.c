#include "fcgi-app/pool/event_loop.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fcgi-app/http/request_log.h"
#include "fcgi-app/pool/connection.h"
#include "fcgi-app/pool/exchange.h"
#include "fcgi-app/pool/fcgi_records.h"
#include "fcgi-app/pool/listener.h"
#include "fcgi-app/pool/pool_metrics.h"
#include "fcgi-app/pool/query_batcher.h"
#include "fcgi-app/pool/shedding.h"
#include "fcgi-app/pool/stop_signal.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/store/redis_async.h"

enum {
    EVENTS_MAX = 256,
    PEEK_MAX = 64 * 1024,
    PARTIAL_MAX_MS = 5000, /* how long a request may be incomplete */
    SWEEP_MS = 1000,
    STOP_MAX_MS = 5000,
    STOP_LOOK_MS = 50,
    STOP_IDLE_MS = 500, /* while stopping, connections idle for so long are closed */
    FULL_IDLE_MS = 5000 /* one idle for so long makes room if there is none */
};

struct loop {
    const struct services *services;
    struct redis_async *redis;
    int epoll_fd;
    bool listens;
    enum accepted accepted; /* by the last accept */
    int64_t now_ms;         /* monotonic, read once a turn */
    int64_t stop_at_ms;
    int64_t swept_at_ms;
    size_t partial; /* connections that may hold an incomplete request */
    struct exchange_store exchanges;
    struct query_batcher *batcher;
    struct flight *follow_ups; /* those with one more command for Redis */
    size_t due_count;
    struct connection *due[CONNECTIONS_MAX]; /* to check again in this turn */
    struct connection_table connections;
    struct shedding shedding;
    char peeked[PEEK_MAX];
};

static bool is_stopping(const struct loop *loop)
{
    return loop->stop_at_ms != 0;
}

static void listen_on(struct loop *loop, bool on)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLEXCLUSIVE, .data.ptr = loop};

    if (on == loop->listens) {
        return;
    }
    if (epoll_ctl(loop->epoll_fd, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, LISTENER_FD, &event) != 0) {
        abort();
    }
    loop->listens = on;
}

static bool is_full(const struct loop *loop)
{
    return loop->accepted == ACCEPTED_NONE || loop->connections.open == CONNECTIONS_MAX;
}

static void mark_due(struct loop *loop, struct connection *connection)
{
    if (!connection->is_due) {
        connection->is_due = true;
        loop->due[loop->due_count++] = connection;
    }
}

static void respond_and_close(struct loop *loop, struct connection *connection,
                              struct exchange *exchange)
{
    struct buffer answer;

    buffer_init(&answer, RESPONSE_MAX);
    exchange_format(exchange, &answer, loop->now_ms);
    connection_finish_last(&loop->connections, connection, buffer_text(&answer));
    buffer_free(&answer);
}

static void respond(struct loop *loop, struct connection *connection, struct exchange *exchange)
{
    if (is_stopping(loop) || !exchange->input_is_read) {
        respond_and_close(loop, connection, exchange);
    } else {
        exchange_send(exchange, &connection->fcgi, loop->now_ms);
        connection_finish(&loop->connections, connection, loop->now_ms);
    }
    exchange_give_back(&loop->exchanges, exchange);
    if (connection->state == CONNECTION_IDLE && connection->has_news) {
        mark_due(loop, connection);
    }
}

/* The exchange that a command in flight belongs to. */
struct flight {
    struct loop *loop;
    struct connection *connection;
    struct exchange *exchange;
    struct flight *next;
};

static void finish(struct loop *loop, struct exchange *exchange, const redisReply *reply)
{
    exchange->response.follow_up = NULL;
    exchange->route->finish(loop->services, &exchange->request, reply, exchange->memory,
                            &exchange->response);
}

static void on_reply(void *context, const redisReply *reply)
{
    struct flight *flight = context;
    struct exchange *exchange = flight->exchange;

    finish(flight->loop, exchange, reply);
    if (exchange->response.follow_up != NULL) {
        /* Redis commands cannot be sent from within a reply. */
        flight->next = flight->loop->follow_ups;
        flight->loop->follow_ups = flight;
    } else {
        respond(flight->loop, flight->connection, exchange);
    }
}

/* The result is in response.query. */
static void on_query_done(void *context)
{
    on_reply(context, NULL);
}

static void send_follow_ups(struct loop *loop)
{
    struct flight *flight = loop->follow_ups;

    loop->follow_ups = NULL;
    while (flight != NULL) {
        struct flight *next = flight->next;
        redis_async_send(loop->redis, flight->exchange->response.follow_up, on_reply, flight,
                         loop->now_ms);
        flight = next;
    }
}

static void begin(struct loop *loop, struct connection *connection)
{
    struct exchange *exchange = exchange_take(&loop->exchanges);
    struct redis_command *command = NULL;

    if (exchange_begin(exchange, POOL_QUEUE, BODY_MAX, &connection->fcgi, loop->now_ms)) {
        enum shed_kind kind = shedding_kind(exchange->route);
        if (kind != SHED_ROOM && shedding_by_turns(&loop->shedding, kind)) {
            shedding_answer(POOL_QUEUE, kind, &exchange->request, &exchange->response);
        } else if (exchange->route->begin != NULL) {
            command = exchange->route->begin(loop->services, &exchange->request,
                                             &exchange->response, &exchange->memory);
        } else {
            exchange->route->handler(loop->services, &exchange->request, &exchange->response);
        }
        exchange->member = request_log_take_member();
        bool asks_redis = command != NULL || exchange->response.query != NULL;
        if (asks_redis && shedding_by_redis(&loop->shedding, kind)) {
            finish(loop, exchange, NULL);
            command = NULL;
            exchange->response.query = NULL;
        }
    }
    if (command == NULL && exchange->response.query == NULL) {
        respond(loop, connection, exchange);
        return;
    }
    struct flight *flight = arena_alloc(exchange->arena, sizeof(*flight));
    *flight = (struct flight){.loop = loop, .connection = connection, .exchange = exchange};
    if (command == NULL) {
        query_batcher_add(loop->batcher, exchange->response.query, on_query_done, flight,
                          loop->now_ms);
    } else {
        redis_async_send(loop->redis, command, on_reply, flight, loop->now_ms);
    }
}

/* Begins the request on an idle connection, once it is complete. */
static void read_connection(struct loop *loop, struct connection *connection)
{
    connection->has_news = false;
    ssize_t n = recv(connection->fcgi.ipcFd, loop->peeked, PEEK_MAX, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (n <= 0) {
        connection_close(&loop->connections, connection);
        return;
    }
    enum fcgi_records records = fcgi_records_look(str_sized(loop->peeked, (size_t)n));
    if (records == FCGI_RECORDS_FOREIGN) {
        log_event(LOG_LEVEL_WARNING, "connection.foreign", LOG_NO_FIELDS);
        connection_close(&loop->connections, connection);
    } else if (records == FCGI_RECORDS_PARTIAL && connection->peer_is_done) {
        connection_close(&loop->connections, connection);
    } else if (records == FCGI_RECORDS_PARTIAL && n < PEEK_MAX) {
        loop->partial += connection->partial_since_ms == 0 ? 1 : 0;
        connection->partial_since_ms =
            connection->partial_since_ms == 0 ? loop->now_ms : connection->partial_since_ms;
    } else if (connection_read(&loop->connections, connection)) {
        begin(loop, connection);
    }
}

static void handle(struct loop *loop, const struct epoll_event *event)
{
    if (event->data.ptr == loop) {
        loop->accepted = connections_accept(&loop->connections, loop->epoll_fd, loop->now_ms);
    } else if (!redis_async_ready(loop->redis, event->data.ptr, event->events, loop->now_ms)) {
        struct connection *connection = event->data.ptr;
        connection->peer_is_done = (event->events & (EPOLLRDHUP | EPOLLHUP)) != 0;
        if (connection->state == CONNECTION_IDLE) {
            read_connection(loop, connection);
        } else {
            connection->has_news = connection->state == CONNECTION_BUSY;
        }
    }
}

static void read_due_connections(struct loop *loop)
{
    size_t count = loop->due_count;

    loop->due_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct connection *connection = loop->due[i];
        connection->is_due = false;
        if (connection->state == CONNECTION_IDLE) {
            read_connection(loop, connection);
        }
    }
}

/* A request may have arrived at this very moment. */
static void close_unless_used(struct loop *loop, struct connection *connection)
{
    read_connection(loop, connection);
    if (connection->state == CONNECTION_IDLE && connection->partial_since_ms == 0) {
        connection_close(&loop->connections, connection);
    }
}

/* How long a connection may be idle. Closing one in use could lose a POST, so it is done only while
 * stopping, and when idle connections would keep others out for ever. */
static int64_t idle_max_ms(const struct loop *loop)
{
    if (is_stopping(loop)) {
        return STOP_IDLE_MS;
    }
    return is_full(loop) ? FULL_IDLE_MS : INT64_MAX;
}

/* Closes connections incomplete or idle for too long, and sends a heartbeat. */
static void sweep(struct loop *loop)
{
    int64_t idle_ms = idle_max_ms(loop);

    pool_metrics_beat(loop->services->pool);
    loop->partial = 0;
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        struct connection *connection = &loop->connections.all[i];
        if (connection->state != CONNECTION_IDLE) {
            continue;
        }
        bool is_partial = connection->partial_since_ms != 0;
        if (is_partial && loop->now_ms - connection->partial_since_ms >= PARTIAL_MAX_MS) {
            log_event(LOG_LEVEL_WARNING, "connection.half_request", LOG_NO_FIELDS);
            connection_close(&loop->connections, connection);
        } else if (!is_partial && loop->now_ms - connection->idle_since_ms >= idle_ms) {
            close_unless_used(loop, connection);
        } else {
            loop->partial += is_partial ? 1 : 0;
        }
    }
    loop->accepted = ACCEPTED_ALL;
    loop->swept_at_ms = loop->now_ms;
}

static int time_to_wait(const struct loop *loop)
{
    int64_t wait_ms = redis_async_next_turn(loop->redis, loop->now_ms);
    int64_t own_ms = SWEEP_MS;

    if (loop->due_count > 0 || loop->follow_ups != NULL) {
        own_ms = 0;
    } else if (is_stopping(loop)) {
        own_ms = STOP_LOOK_MS;
    }
    if (wait_ms < 0 || own_ms < wait_ms) {
        wait_ms = own_ms;
    }
    return (int)wait_ms;
}

static void start_stopping(struct loop *loop)
{
    listen_on(loop, false);
    loop->now_ms = clock_monotonic_ms();
    loop->stop_at_ms = loop->now_ms + STOP_MAX_MS;
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        loop->connections.all[i].idle_since_ms = loop->now_ms;
    }
    log_event(LOG_LEVEL_INFO, "worker.stopping",
              LOG_FIELDS(LOG_INT("connections", loop->connections.open)));
}

static void turn(struct loop *loop, const sigset_t *open_mask)
{
    struct epoll_event events[EVENTS_MAX];
    int64_t began_ms = clock_monotonic_ms();
    int count = epoll_pwait(loop->epoll_fd, events, EVENTS_MAX, time_to_wait(loop), open_mask);

    loop->now_ms = clock_monotonic_ms();
    stop_signal_look(open_mask, loop->now_ms);
    shedding_turn(&loop->shedding, loop->now_ms, began_ms,
                  redis_async_late_ms(loop->redis, loop->now_ms));
    loop->accepted = loop->accepted == ACCEPTED_NONE ? ACCEPTED_NONE : ACCEPTED_ALL;
    for (int i = 0; i < count; i++) {
        handle(loop, &events[i]);
    }
    loop->shedding.left_some = count == EVENTS_MAX || loop->accepted == ACCEPTED_SOME;
    read_due_connections(loop);
    query_batcher_send(loop->batcher, loop->redis, loop->now_ms);
    send_follow_ups(loop);
    redis_async_turn(loop->redis, loop->now_ms);
    if (loop->now_ms - loop->swept_at_ms >= (is_stopping(loop) ? STOP_LOOK_MS : SWEEP_MS)) {
        sweep(loop);
    }
    listen_on(loop, !is_stopping(loop) && !is_full(loop));
}

static void free_loop(struct loop *loop)
{
    redis_async_free(loop->redis);
    query_batcher_free(loop->batcher);
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        if (loop->connections.all[i].state == CONNECTION_IDLE) {
            connection_close(&loop->connections, &loop->connections.all[i]);
        }
    }
    exchange_store_free(&loop->exchanges);
    (void)close(loop->epoll_fd);
    free(loop);
}

int event_loop_run(const struct services *services)
{
    struct loop *loop = calloc(1, sizeof(*loop));
    sigset_t open_mask;

    if (loop == NULL || (loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC)) < 0) {
        abort();
    }
    stop_signal_install(&open_mask);
    loop->services = services;
    loop->now_ms = clock_monotonic_ms();
    shedding_start(&loop->shedding, services->settings, loop->now_ms);
    loop->batcher = query_batcher_new();
    loop->redis = redis_async_new(services->settings, loop->epoll_fd, loop->now_ms);
    listen_on(loop, true);
    log_event(LOG_LEVEL_INFO, "worker.started", LOG_NO_FIELDS);
    while (!is_stopping(loop) || (loop->connections.open > 0 && loop->now_ms < loop->stop_at_ms)) {
        turn(loop, &open_mask);
        if (stop_signal_came() && !is_stopping(loop)) {
            start_stopping(loop);
        }
    }
    log_event(LOG_LEVEL_INFO, "worker.stopped",
              LOG_FIELDS(LOG_INT("inFlight", loop->connections.busy)));
    free_loop(loop);
    return 0;
}
