#include "lib/store/redis_line.h"

#include <stdlib.h>

#include "lib/base/clock.h"
#include "lib/store/redis_count.h"
#include "lib/store/redis_line_parts.h"

void line_wait(struct line_flight *flight)
{
    struct redis_line *line = flight->line;

    flight->next = NULL;
    *line->last = flight;
    line->last = &flight->next;
}

static void on_changed(void *context, bool connected)
{
    struct line_node *node = context;

    node->gate = GATE_UNKNOWN;
    node->was_open = false;
    node->checked_ms = 0;
    node->line->seek |= !connected && node->line->access.mode == REDIS_SENTINEL;
    node->line->slots_are_old |= !connected;
}

struct line_node *line_node_of(struct redis_line *line, const struct redis_server *server,
                               int64_t now_ms)
{
    for (size_t i = 0; i < line->node_count; i++) {
        if (redis_server_equal(&line->nodes[i].server, server)) {
            return &line->nodes[i];
        }
    }
    if (line->node_count == REDIS_SERVERS_MAX) {
        return NULL;
    }
    struct line_node *node = &line->nodes[line->node_count++];
    *node = (struct line_node){.line = line, .server = *server};
    node->pipeline =
        redis_pipeline_new(&(struct redis_pipeline_options){.access = &line->access,
                                                            .server = *server,
                                                            .timeout_ms = line->timeout_ms,
                                                            .epoll_fd = line->epoll_fd,
                                                            .changed = on_changed,
                                                            .context = node},
                           now_ms);
    return node;
}

struct redis_line *redis_line_new(const struct settings *settings, int epoll_fd, int64_t now_ms)
{
    struct redis_line *line = calloc(1, sizeof(*line));

    if (line == NULL) {
        abort();
    }
    redis_access_init(&line->access, settings);
    line->timeout_ms = settings->redis_timeout_ms;
    line->epoll_fd = epoll_fd;
    line->last = &line->waiting;
    line->seek = line->access.mode == REDIS_SENTINEL;
    if (line->access.mode == REDIS_ONE) {
        (void)line_node_of(line, &line->access.server, now_ms);
    } else if (line->access.mode == REDIS_CLUSTER) {
        line->slots = calloc(1, sizeof(*line->slots));
        if (line->slots == NULL) {
            abort();
        }
        redis_slots_clear(line->slots);
        line->slots_are_old = true;
    }
    return line;
}

static void finish(struct line_flight *flight, const redisReply *reply)
{
    flight->done(flight->context, reply);
}

void redis_line_free(struct redis_line *line)
{
    if (line == NULL) {
        return;
    }
    redis_pipeline_free(line->sentinel);
    for (size_t i = 0; i < line->node_count; i++) {
        redis_pipeline_free(line->nodes[i].pipeline);
    }
    while (line->waiting != NULL) {
        struct line_flight *flight = line->waiting;
        line->waiting = flight->next;
        finish(flight, NULL);
    }
    free(line->slots);
    free(line);
}

static void come_back(struct line_flight *flight, int64_t pause_ms)
{
    flight->node = NULL;
    flight->tries++;
    flight->due_ms = clock_monotonic_ms() + pause_ms;
    line_wait(flight);
}

static void note_moved(struct line_flight *flight, int slot, const struct redis_server *server)
{
    /* Whoever sends us elsewhere may come back as another tenure's primary, over this very connection. */
    flight->node->gate = GATE_UNKNOWN;
    if (flight->line->slots != NULL) {
        (void)redis_slots_note(flight->line->slots, slot, server);
        flight->line->slots_are_old = true;
    }
}

static void on_reply(void *context, const redisReply *reply)
{
    struct line_flight *flight = context;
    struct redis_line *line = flight->line;
    bool again = line->slots != NULL && flight->tries < LINE_TRIES_MAX;
    struct redis_server server;
    int slot;

    flight->asking = false;
    switch (redis_redirect_of(reply, &flight->node->server, &slot, &server)) {
    case REDIS_MOVED:
        note_moved(flight, slot, &server);
        if (again) {
            come_back(flight, flight->tries < 4 ? 0 : LINE_AGAIN_MS);
            return;
        }
        break;
    case REDIS_ASK:
        if (again) {
            come_back(flight, flight->tries < 4 ? 0 : LINE_AGAIN_MS);
            flight->node = line_node_of(line, &server, flight->due_ms);
            flight->asking = flight->node != NULL;
            return;
        }
        break;
    case REDIS_AGAIN:
        line->slots_are_old = line->slots != NULL;
        if (line->slots != NULL) {
            come_back(flight, LINE_AGAIN_MS);
            return;
        }
        break;
    case REDIS_NO_PRIMARY:
        flight->node->gate = GATE_UNKNOWN;
        line->seek |= line->access.mode == REDIS_SENTINEL;
        line->slots_are_old = line->slots != NULL;
        break;
    case REDIS_STAYS:
        break;
    }
    finish(flight, reply);
}

/* Whom to ask; NULL: nobody yet. */
static struct line_node *node_for(struct line_flight *flight, int64_t now_ms)
{
    struct redis_line *line = flight->line;

    if (flight->node != NULL) {
        return flight->node;
    }
    if (line->slots == NULL) {
        return line->node_count > 0 ? &line->nodes[0] : NULL;
    }
    struct str key = redis_command_key(flight->command);
    int owner = line->slots->owner[key.n > 0 ? redis_slot_of(key) : 0];
    if (owner < 0) {
        line->slots_are_old = true;
        return NULL;
    }
    return line_node_of(line, &line->slots->servers[owner], now_ms);
}

/* Sends it, ends it without a reply, or has it wait. */
static void dispatch(struct line_flight *flight, int64_t now_ms)
{
    struct redis_line *line = flight->line;

    if (now_ms >= flight->deadline_ms) {
        redis_count(NULL, HISTOGRAM_REDIS_LINE, 0);
        finish(flight, NULL);
        return;
    }
    struct line_node *node = flight->due_ms <= now_ms ? node_for(flight, now_ms) : NULL;
    if (node == NULL) {
        line_wait(flight);
        return;
    }
    bool open = node->gate == GATE_OPEN || node->was_open || flight->unguarded;
    bool silent = redis_pipeline_is_silent(node->pipeline);
    if (node->gate == GATE_CLOSED ? !flight->unguarded : silent && line->has_been_up) {
        redis_count(NULL, HISTOGRAM_REDIS_LINE, 0);
        finish(flight, NULL);
    } else if (!open || silent) {
        line_wait(flight);
    } else {
        flight->node = node;
        node->is_used = true;
        if (flight->asking) {
            redis_pipeline_send_asking(node->pipeline, flight->command, on_reply, flight, now_ms);
        } else {
            redis_pipeline_send(node->pipeline, flight->command, on_reply, flight, now_ms);
        }
    }
}

static struct line_flight *new_flight(struct redis_line *line, struct redis_command *command,
                                      redis_pipeline_done *done, void *context, int64_t now_ms)
{
    struct line_flight *flight = arena_alloc(command->arena, sizeof(*flight));

    *flight = (struct line_flight){.line = line,
                                   .command = command,
                                   .done = done,
                                   .context = context,
                                   .due_ms = now_ms,
                                   .deadline_ms = now_ms + line->timeout_ms};
    return flight;
}

void redis_line_send(struct redis_line *line, struct redis_command *command,
                     redis_pipeline_done *done, void *context, int64_t now_ms)
{
    struct line_node *only = &line->nodes[0];

    if (line->access.mode == REDIS_ONE && only->gate == GATE_OPEN) {
        only->is_used = true;
        redis_pipeline_send(only->pipeline, command, done, context, now_ms);
        return;
    }
    dispatch(new_flight(line, command, done, context, now_ms), now_ms);
}

struct own {
    struct arena *arena;
    redis_pipeline_done *done;
    void *context;
};

static void on_own_reply(void *context, const redisReply *reply)
{
    struct own *own = context;
    struct arena *arena = own->arena;

    own->done(own->context, reply);
    arena_free(arena);
}

static struct own *new_own(struct arena *arena, redis_pipeline_done *done, void *context)
{
    struct own *own = arena_alloc(arena, sizeof(*own));

    *own = (struct own){.arena = arena, .done = done, .context = context};
    return own;
}

void line_ask(struct redis_line *line, struct line_node *node, struct arena *arena,
              struct redis_command *command, redis_pipeline_done *done, void *context,
              int64_t now_ms)
{
    struct line_flight *flight =
        new_flight(line, command, on_own_reply, new_own(arena, done, context), now_ms);

    flight->node = node;
    flight->unguarded = true;
    dispatch(flight, now_ms);
}

void line_ask_pipeline(struct redis_pipeline *pipeline, struct arena *arena,
                       struct redis_command *command, redis_pipeline_done *done, void *context,
                       int64_t now_ms)
{
    redis_pipeline_send(pipeline, command, on_own_reply, new_own(arena, done, context), now_ms);
}

bool redis_line_ready(struct redis_line *line, void *ptr, uint32_t events, int64_t now_ms)
{
    if (ptr == line->sentinel && ptr != NULL) {
        redis_pipeline_ready(line->sentinel, events, now_ms);
        return true;
    }
    for (size_t i = 0; i < line->node_count; i++) {
        if (ptr == line->nodes[i].pipeline) {
            redis_pipeline_ready(line->nodes[i].pipeline, events, now_ms);
            return true;
        }
    }
    return false;
}

static void send_waiting(struct redis_line *line, int64_t now_ms)
{
    struct line_flight *flight = line->waiting;

    line->waiting = NULL;
    line->last = &line->waiting;
    while (flight != NULL) {
        struct line_flight *next = flight->next;
        dispatch(flight, now_ms);
        flight = next;
    }
}

void redis_line_turn(struct redis_line *line, int64_t now_ms)
{
    line_seek_turn(line, now_ms);
    for (size_t i = 0; i < line->node_count; i++) {
        line_node_turn(&line->nodes[i], now_ms);
    }
    send_waiting(line, now_ms);
    for (size_t i = 0; i < line->node_count; i++) {
        redis_pipeline_turn(line->nodes[i].pipeline, now_ms);
    }
    if (line->sentinel != NULL) {
        redis_pipeline_turn(line->sentinel, now_ms);
    }
}

int64_t redis_line_late_ms(const struct redis_line *line, int64_t now_ms)
{
    int64_t latest = 0;

    for (size_t i = 0; i < line->node_count; i++) {
        int64_t late = redis_pipeline_late_ms(line->nodes[i].pipeline, now_ms);
        latest = late > latest ? late : latest;
    }
    return latest;
}

static int64_t sooner(int64_t a, int64_t b)
{
    if (b < 0) {
        return a;
    }
    return a < b ? a : b;
}

int64_t redis_line_next_turn(const struct redis_line *line, int64_t now_ms)
{
    int64_t next = line_seek_next_turn(line, now_ms);

    for (size_t i = 0; i < line->node_count; i++) {
        next = sooner(next, redis_pipeline_next_turn(line->nodes[i].pipeline, now_ms));
        next = sooner(next, line_node_next_turn(&line->nodes[i], now_ms));
    }
    if (line->sentinel != NULL) {
        next = sooner(next, redis_pipeline_next_turn(line->sentinel, now_ms));
    }
    if (line->waiting != NULL) {
        next = sooner(next, LINE_AGAIN_MS);
    }
    return next == INT64_MAX ? -1 : next;
}
