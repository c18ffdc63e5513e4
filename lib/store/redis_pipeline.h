/*
 * redis_pipeline — one server's connection of the queue pool's client (redis_async.h): it never
 * waits. Everything in flight shares one connection; what was sent within a turn of the event loop
 * is written at once, and replies are matched in order. Each command has a deadline; a late or
 * broken connection is dropped, everything in flight then ends without a reply, and the connection
 * is made anew: at once, then after 50 ms and up to 1 s.
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

/** Gets the reply, borrowed for the call only; NULL where there is none: it is then not known
 *  whether the command was carried out. Must not send another command. */
typedef void redis_pipeline_done(void *context, const redisReply *reply);

/** Where to, and who wants to know: `changed` is called with true when a connection was begun
 *  anew (its login and the scripts' loading are in front of whatever it sends), with false when
 *  one was lost. */
struct redis_pipeline_options {
    const struct redis_access *access; /* borrowed */
    struct redis_server server;
    bool sentinel; /* it is one: no scripts, the Sentinels' user */
    int64_t timeout_ms;
    int epoll_fd;
    void (*changed)(void *context, bool connected); /* or NULL */
    void *context;
};

/** A client of that server. Its file descriptor is kept registered in the epoll, with the client
 *  itself as data.ptr. The time-out (≥ 1 ms) bounds each command and the set-up of a connection.
 *  Never NULL; the first connection is begun. */
struct redis_pipeline *redis_pipeline_new(const struct redis_pipeline_options *options,
                                          int64_t now_ms);

/** Gives the connection up, if there is one, and goes on at `server`, at once. */
void redis_pipeline_move(struct redis_pipeline *pipeline, const struct redis_server *server,
                         int64_t now_ms);

/** Gives the connection up because of `why`; a new one is begun after the usual pause. */
void redis_pipeline_drop(struct redis_pipeline *pipeline, const char *why, int64_t now_ms);

/** True while whatever is sent ends at once without a reply. */
bool redis_pipeline_is_silent(const struct redis_pipeline *pipeline);

/** True while there is a connection, be it one that is just begun. */
bool redis_pipeline_is_up(const struct redis_pipeline *pipeline);

/** Closes the connection; what is in flight ends without a reply. NULL is allowed. */
void redis_pipeline_free(struct redis_pipeline *pipeline);

/** Sends `command` with the next flush; it must live until `done` was called, which may be
 *  before this returns: at once with NULL while there is no connection or too much in flight. A
 *  script that Redis does not know is sent again with its text. `now_ms` is monotonic, here and
 *  below. */
void redis_pipeline_send(struct redis_pipeline *pipeline, struct redis_command *command,
                         redis_pipeline_done *done, void *context, int64_t now_ms);

/** As redis_pipeline_send(), behind an ASKING. */
void redis_pipeline_send_asking(struct redis_pipeline *pipeline, struct redis_command *command,
                                redis_pipeline_done *done, void *context, int64_t now_ms);

/** To be called when epoll reports `events` for the client. */
void redis_pipeline_ready(struct redis_pipeline *pipeline, uint32_t events, int64_t now_ms);

/** To be called once a turn of the event loop: writes what was sent, drops a connection that is
 *  late, begins a new one that is due. */
void redis_pipeline_turn(struct redis_pipeline *pipeline, int64_t now_ms);

/** For how many milliseconds the oldest command in flight has waited for its reply; 0 where none
 *  is. */
int64_t redis_pipeline_late_ms(const struct redis_pipeline *pipeline, int64_t now_ms);

/** Milliseconds until redis_pipeline_turn() has something to do, -1 for never. */
int64_t redis_pipeline_next_turn(const struct redis_pipeline *pipeline, int64_t now_ms);

#endif
