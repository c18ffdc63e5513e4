/*
 * redis_pipeline — a non-blocking connection to one server, part of the queue pool's client
 * (redis_async.h). All commands in flight share the connection; those of one turn of the event loop
 * are written together, and replies are matched in order. Each command has a deadline; a late or
 * broken connection is dropped, commands in flight then end without a reply, and a new connection
 * is opened: immediately, then after 50 ms and up to 1 s.
 */
#ifndef SLUICE_STORE_REDIS_PIPELINE_H
#define SLUICE_STORE_REDIS_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

#include "lib/store/redis_access.h"
#include "lib/store/redis_command.h"

enum { REDIS_PIPELINE_MAX = 4096 }; /* commands in flight */

struct redis_pipeline;

/** Gets the reply, borrowed for the call only; NULL if there is none: it is then not known
 *  whether the command was executed. Must not send another command. */
typedef void redis_pipeline_done(void *context, const redisReply *reply);

/** Where to connect, and whom to notify: `changed` is called with true when a connection was
 *  started (its authentication and the loading of scripts precede anything it sends), with false
 *  when one was lost. */
struct redis_pipeline_options {
    const struct redis_access *access; /* borrowed */
    struct redis_server server;
    bool sentinel; /* a Sentinel: no scripts, the Sentinels' user */
    int64_t timeout_ms;
    int epoll_fd;
    void (*changed)(void *context, bool connected); /* or NULL */
    void *context;
};

/** Creates a client of that server. Its file descriptor is registered in the epoll instance, with
 *  the client itself as data.ptr. The timeout (≥ 1 ms) bounds each command and the set-up of a
 *  connection. Never NULL; the first connection is being opened. */
struct redis_pipeline *redis_pipeline_new(const struct redis_pipeline_options *options,
                                          int64_t now_ms);

/** Drops the connection, if any, and connects to `server` immediately. */
void redis_pipeline_move(struct redis_pipeline *pipeline, const struct redis_server *server,
                         int64_t now_ms);

/** Drops the connection because of `why`; a new one is opened after the usual pause. */
void redis_pipeline_drop(struct redis_pipeline *pipeline, const char *why, int64_t now_ms);

/** True while every command ends immediately without a reply. */
bool redis_pipeline_is_silent(const struct redis_pipeline *pipeline);

/** True while there is a connection, even one that is still being opened. */
bool redis_pipeline_is_up(const struct redis_pipeline *pipeline);

/** Closes the connection; commands in flight end without a reply. NULL is allowed. */
void redis_pipeline_free(struct redis_pipeline *pipeline);

/** Sends `command` with the next flush; it must live until `done` was called. Without a connection,
 *  or with too many commands in flight, `done` is called with NULL before this returns. A script
 *  that Redis does not know is sent again with its text. `now_ms` is monotonic, here and below. */
void redis_pipeline_send(struct redis_pipeline *pipeline, struct redis_command *command,
                         redis_pipeline_done *done, void *context, int64_t now_ms);

/** As redis_pipeline_send(), preceded by an ASKING. */
void redis_pipeline_send_asking(struct redis_pipeline *pipeline, struct redis_command *command,
                                redis_pipeline_done *done, void *context, int64_t now_ms);

/** Handles `events` that epoll reports for the client. */
void redis_pipeline_ready(struct redis_pipeline *pipeline, uint32_t events, int64_t now_ms);

/** To be called once per turn of the event loop: writes what was sent, drops a late connection,
 *  opens a new one when due. */
void redis_pipeline_turn(struct redis_pipeline *pipeline, int64_t now_ms);

/** How many milliseconds the oldest command in flight has waited for its reply; 0: none in
 *  flight. */
int64_t redis_pipeline_late_ms(const struct redis_pipeline *pipeline, int64_t now_ms);

/** Milliseconds until redis_pipeline_turn() has something to do, -1: never. */
int64_t redis_pipeline_next_turn(const struct redis_pipeline *pipeline, int64_t now_ms);

#endif
