#include "lib/store/redis_pipeline.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/store/redis_metrics.h"
#include "lib/store/redis_reply.h"

enum { BACK_OFF_FIRST_MS = 50, BACK_OFF_MAX_MS = 1000 };

/* On each new connection the scripts are loaded before anything but the authentication; any command
 * may be preceded by an ASKING. */
enum { SLOTS = REDIS_PIPELINE_MAX + SCRIPT_COUNT + 4 };

struct in_flight {
    struct redis_command *command; /* NULL for one of the client's own */
    redis_pipeline_done *done;
    void *context;
    int64_t deadline_ms;
    int64_t sent_us;  /* for the metrics */
    bool has_text;    /* it was sent again with its text */
    int to_pass_over; /* replies before the one that counts */
    bool is_login;
};

struct redis_pipeline {
    struct redis_pipeline_options options;
    redisContext *context; /* NULL while not connected */
    bool answers;          /* this connection has brought a reply */
    bool was_late;         /* the previous one was dropped because it did not answer */
    bool is_refused;       /* the authentication failed */
    bool has_unsent;
    bool waits_for_room; /* EPOLLOUT is requested */
    int64_t back_off_ms; /* the next pause between attempts, 0: none */
    int64_t retry_at_ms;
    size_t first; /* ring: oldest in flight */
    size_t count;
    struct in_flight ring[SLOTS];
};

static struct in_flight *slot(struct redis_pipeline *pipeline, size_t index)
{
    return &pipeline->ring[(pipeline->first + index) % SLOTS];
}

static struct in_flight take_oldest(struct redis_pipeline *pipeline)
{
    struct in_flight oldest = *slot(pipeline, 0);

    pipeline->first = (pipeline->first + 1) % SLOTS;
    pipeline->count--;
    return oldest;
}

static void end_all(struct redis_pipeline *pipeline)
{
    while (pipeline->count > 0) {
        struct in_flight one = take_oldest(pipeline);
        if (one.done != NULL) {
            redis_metrics_count(NULL, HISTOGRAM_REDIS_LINE, one.sent_us);
            one.done(one.context, NULL);
        }
    }
}

static void plan_retry(struct redis_pipeline *pipeline, int64_t now_ms)
{
    pipeline->retry_at_ms = now_ms + pipeline->back_off_ms;
    pipeline->back_off_ms =
        pipeline->back_off_ms == 0 ? BACK_OFF_FIRST_MS : 2 * pipeline->back_off_ms;
    if (pipeline->back_off_ms > BACK_OFF_MAX_MS) {
        pipeline->back_off_ms = BACK_OFF_MAX_MS;
    }
}

static void notify(struct redis_pipeline *pipeline, bool connected)
{
    if (pipeline->options.changed != NULL) {
        pipeline->options.changed(pipeline->options.context, connected);
    }
}

static void drop(struct redis_pipeline *pipeline, const char *why, int64_t now_ms)
{
    log_event(LOG_LEVEL_WARNING, "redis.lost",
              LOG_FIELDS(LOG_TEXT("why", why), LOG_INT("inFlight", pipeline->count)));
    redisFree(pipeline->context); /* closing removes it from epoll */
    pipeline->context = NULL;
    pipeline->has_unsent = false;
    pipeline->waits_for_room = false;
    pipeline->is_refused = false;
    plan_retry(pipeline, now_ms);
    notify(pipeline, false);
    end_all(pipeline);
}

static void note_sent(struct redis_pipeline *pipeline, int appended, struct in_flight entry)
{
    if (appended != REDIS_OK) {
        abort();
    }
    *slot(pipeline, pipeline->count) = entry;
    pipeline->count++;
    pipeline->has_unsent = true;
}

static void append(struct redis_pipeline *pipeline, struct in_flight entry)
{
    struct str wire = redis_command_wire(entry.command);

    note_sent(pipeline, redisAppendFormattedCommand(pipeline->context, wire.p, wire.n), entry);
}

static void load_scripts(struct redis_pipeline *pipeline, int64_t now_ms)
{
    for (int i = 0; i < SCRIPT_COUNT; i++) {
        const char *words[] = {"SCRIPT", "LOAD", script_text((enum script)i)->text};
        size_t lengths[] = {strlen(words[0]), strlen(words[1]), strlen(words[2])};
        note_sent(pipeline, redisAppendCommandArgv(pipeline->context, 3, words, lengths),
                  (struct in_flight){.deadline_ms = now_ms + pipeline->options.timeout_ms});
    }
}

static void connect_now(struct redis_pipeline *pipeline, int64_t now_ms)
{
    const struct redis_pipeline_options *options = &pipeline->options;
    char name[ENDPOINT_HOST + 16];
    char error[REDIS_ACCESS_ERROR] = "epoll";
    int login = 0;
    redisContext *context =
        redis_dial_begin(options->access, &options->server, options->sentinel, &login, error);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = pipeline};

    if (context == NULL || epoll_ctl(options->epoll_fd, EPOLL_CTL_ADD, context->fd, &event) != 0) {
        log_event(LOG_LEVEL_WARNING, "redis.unreachable",
                  LOG_FIELDS(LOG_TEXT("why", error),
                             LOG_TEXT("server", redis_server_name(&options->server, name))));
        metrics_add(METRIC_REDIS_NOT_CONNECTED, 1);
        if (context != NULL) {
            redisFree(context);
        }
        plan_retry(pipeline, now_ms);
        return;
    }
    pipeline->context = context;
    pipeline->answers = false;
    if (login > 0) {
        note_sent(
            pipeline, REDIS_OK,
            (struct in_flight){.deadline_ms = now_ms + options->timeout_ms, .is_login = true});
    }
    if (!options->sentinel) {
        load_scripts(pipeline, now_ms);
    }
    notify(pipeline, true);
}

struct redis_pipeline *redis_pipeline_new(const struct redis_pipeline_options *options,
                                          int64_t now_ms)
{
    struct redis_pipeline *pipeline = calloc(1, sizeof(*pipeline));

    if (pipeline == NULL) {
        abort();
    }
    pipeline->options = *options;
    connect_now(pipeline, now_ms);
    return pipeline;
}

void redis_pipeline_free(struct redis_pipeline *pipeline)
{
    if (pipeline == NULL) {
        return;
    }
    if (pipeline->context != NULL) {
        redisFree(pipeline->context);
        pipeline->context = NULL;
    }
    end_all(pipeline);
    free(pipeline);
}

void redis_pipeline_move(struct redis_pipeline *pipeline, const struct redis_server *server,
                         int64_t now_ms)
{
    pipeline->options.server = *server;
    if (pipeline->context != NULL) {
        drop(pipeline, "another one is the primary", now_ms);
    }
    pipeline->back_off_ms = 0;
    pipeline->retry_at_ms = now_ms;
}

void redis_pipeline_drop(struct redis_pipeline *pipeline, const char *why, int64_t now_ms)
{
    if (pipeline->context != NULL) {
        /* The server answers: without a pause it would be connected and dropped hundreds of times a
         * second. */
        pipeline->back_off_ms = BACK_OFF_MAX_MS / 2;
        drop(pipeline, why, now_ms);
    }
}

bool redis_pipeline_is_silent(const struct redis_pipeline *pipeline)
{
    /* After a timeout commands do not wait again until Redis has answered the loading of
     * scripts. */
    return pipeline->context == NULL || (pipeline->was_late && !pipeline->answers);
}

bool redis_pipeline_is_up(const struct redis_pipeline *pipeline)
{
    return pipeline->context != NULL;
}

static bool has_room(const struct redis_pipeline *pipeline, size_t commands)
{
    return !redis_pipeline_is_silent(pipeline) &&
           pipeline->count + commands <= REDIS_PIPELINE_MAX + 1;
}

static void refuse(redis_pipeline_done *done, void *context)
{
    redis_metrics_count(NULL, HISTOGRAM_REDIS_LINE, 0);
    done(context, NULL);
}

static void begin_asking(struct redis_pipeline *pipeline, int64_t now_ms)
{
    static const char ASKING[] = "*1\r\n$6\r\nASKING\r\n";

    note_sent(pipeline, redisAppendFormattedCommand(pipeline->context, ASKING, sizeof(ASKING) - 1),
              (struct in_flight){.deadline_ms = now_ms + pipeline->options.timeout_ms});
}

void redis_pipeline_send_asking(struct redis_pipeline *pipeline, struct redis_command *command,
                                redis_pipeline_done *done, void *context, int64_t now_ms)
{
    if (!has_room(pipeline, 2)) {
        refuse(done, context);
        return;
    }
    begin_asking(pipeline, now_ms);
    redis_pipeline_send(pipeline, command, done, context, now_ms);
}

void redis_pipeline_send(struct redis_pipeline *pipeline, struct redis_command *command,
                         redis_pipeline_done *done, void *context, int64_t now_ms)
{
    if (!has_room(pipeline, 1)) {
        refuse(done, context);
        return;
    }
    append(pipeline, (struct in_flight){.command = command,
                                        .done = done,
                                        .context = context,
                                        .sent_us = clock_monotonic_us(),
                                        .to_pass_over = redis_command_replies_before(command),
                                        .deadline_ms = now_ms + pipeline->options.timeout_ms});
}

/* Assigns a reply to the oldest command in flight. */
static void settle(struct redis_pipeline *pipeline, const redisReply *reply)
{
    if (slot(pipeline, 0)->to_pass_over > 0) {
        /* EXEC's reply reports errors of a transaction's parts too. */
        slot(pipeline, 0)->to_pass_over--;
        return;
    }
    struct in_flight one = take_oldest(pipeline);

    if (one.command == NULL) {
        pipeline->is_refused |= one.is_login && reply->type == REDIS_REPLY_ERROR;
        return;
    }
    redis_metrics_count(reply, HISTOGRAM_REDIS_LINE, one.sent_us);
    if (redis_reply_is_noscript(reply) && one.command->script != NULL && !one.has_text) {
        redis_command_send_text(one.command);
        one.has_text = true;
        one.sent_us = clock_monotonic_us();
        append(pipeline, one);
        return;
    }
    one.done(one.context, reply);
}

static void note_connected(const struct redis_pipeline *pipeline)
{
    char name[ENDPOINT_HOST + 16];

    if (!pipeline->options.sentinel) {
        metrics_add(METRIC_REDIS_CONNECTED, 1);
        log_event(
            LOG_LEVEL_INFO, "redis.connected",
            LOG_FIELDS(LOG_TEXT("server", redis_server_name(&pipeline->options.server, name))));
    }
}

static void read_replies(struct redis_pipeline *pipeline, int64_t now_ms)
{
    void *reply = NULL;

    if (redisBufferRead(pipeline->context) != REDIS_OK) {
        drop(pipeline, pipeline->context->errstr, now_ms);
        return;
    }
    while (redisGetReplyFromReader(pipeline->context, &reply) == REDIS_OK && reply != NULL) {
        /* The error "too many clients", sent before the connection is closed, does not count. */
        if (!pipeline->answers && ((redisReply *)reply)->type != REDIS_REPLY_ERROR) {
            pipeline->answers = true;
            pipeline->was_late = false;
            pipeline->back_off_ms = 0;
            note_connected(pipeline);
        }
        if (pipeline->count == 0) {
            freeReplyObject(reply);
            drop(pipeline, "an answer to nothing", now_ms);
            return;
        }
        settle(pipeline, reply);
        freeReplyObject(reply);
        reply = NULL;
    }
    if (pipeline->context->err != 0) {
        drop(pipeline, pipeline->context->errstr, now_ms);
    } else if (pipeline->is_refused) {
        redis_pipeline_drop(pipeline, "Redis refuses the login", now_ms);
    }
}

/* Writes what the socket accepts now; epoll reports when there is room for the rest. */
static void flush(struct redis_pipeline *pipeline, int64_t now_ms)
{
    int all_written = 0;

    if (redisBufferWrite(pipeline->context, &all_written) != REDIS_OK) {
        drop(pipeline, pipeline->context->errstr, now_ms);
        return;
    }
    pipeline->has_unsent = all_written == 0;
    if (pipeline->has_unsent != pipeline->waits_for_room) {
        struct epoll_event event = {.events = pipeline->has_unsent ? EPOLLIN | EPOLLOUT : EPOLLIN,
                                    .data.ptr = pipeline};
        (void)epoll_ctl(pipeline->options.epoll_fd, EPOLL_CTL_MOD, pipeline->context->fd, &event);
        pipeline->waits_for_room = pipeline->has_unsent;
    }
}

void redis_pipeline_ready(struct redis_pipeline *pipeline, uint32_t events, int64_t now_ms)
{
    if (pipeline->context != NULL && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
        read_replies(pipeline, now_ms);
    }
    if (pipeline->context != NULL && (events & EPOLLOUT) != 0) {
        flush(pipeline, now_ms);
    }
}

static bool is_late(struct redis_pipeline *pipeline, int64_t now_ms)
{
    return pipeline->context != NULL && pipeline->count > 0 &&
           slot(pipeline, 0)->deadline_ms <= now_ms;
}

void redis_pipeline_turn(struct redis_pipeline *pipeline, int64_t now_ms)
{
    if (is_late(pipeline, now_ms)) {
        /* If this process itself was stopped, the replies have arrived. */
        read_replies(pipeline, now_ms);
    }
    if (is_late(pipeline, now_ms)) {
        pipeline->was_late = true;
        drop(pipeline, "no answer in time", now_ms);
    }
    if (pipeline->context == NULL && pipeline->retry_at_ms <= now_ms) {
        connect_now(pipeline, now_ms);
    }
    if (pipeline->context != NULL && pipeline->has_unsent && !pipeline->waits_for_room) {
        flush(pipeline, now_ms);
    }
}

int64_t redis_pipeline_late_ms(const struct redis_pipeline *pipeline, int64_t now_ms)
{
    if (pipeline->context == NULL || pipeline->count == 0) {
        return 0;
    }
    return now_ms - (pipeline->ring[pipeline->first].deadline_ms - pipeline->options.timeout_ms);
}

int64_t redis_pipeline_next_turn(const struct redis_pipeline *pipeline, int64_t now_ms)
{
    int64_t at_ms;

    if (pipeline->context == NULL) {
        at_ms = pipeline->retry_at_ms;
    } else if (pipeline->has_unsent && !pipeline->waits_for_room) {
        at_ms = now_ms;
    } else if (pipeline->count > 0) {
        at_ms = pipeline->ring[pipeline->first].deadline_ms;
    } else {
        return -1;
    }
    return at_ms > now_ms ? at_ms - now_ms : 0;
}
