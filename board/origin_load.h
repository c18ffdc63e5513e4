/*
 * origin_load — the load of the site behind the gate, which nginx reports by a datagram for each
 * request that it has let through (nginx/gate/measure.conf.in). A thread receives them, so that
 * none is lost while the program waits for Redis; once a second they are added to the queue's load
 * in Redis.
 *
 * A datagram ends in "|queue|statuses|seconds|network|": nginx's $upstream_status and
 * $upstream_response_time, and the client's network as its limits count it (of a configuration from
 * before, without that field, all failures count).
 */
#ifndef SLUICE_BOARD_ORIGIN_LOAD_H
#define SLUICE_BOARD_ORIGIN_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/admission/autopilot/order_load.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis.h"

struct origin_load;

/** Binds a socket at `path`, replacing one left by an earlier process. Every process that can reach
 *  the socket may send: its folder belongs to nginx and Sluice. NULL, with errno, on failure. */
struct origin_load *origin_load_open(const char *path);

/** Adds what has been received since the last report, if that is a second ago. What Redis does not
 *  accept is kept for the next time. */
void origin_load_report(struct origin_load *load, struct redis *redis, struct arena *arena,
                        int64_t now_ms);

/** Ends the thread and removes the socket. NULL is harmless. */
void origin_load_close(struct origin_load *load);

/** What a datagram says; borrowed from it. */
struct origin_answer {
    struct str queue;
    struct str network; /* empty: not named */
};

/** Reads one datagram into `*answer`, and adds one to `counts`. Returns false for anything else. */
bool origin_load_read(struct str datagram, struct origin_answer *answer,
                      struct load_counts *counts);

#endif
