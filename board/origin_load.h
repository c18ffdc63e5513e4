/*
 * origin_load — what the site behind the gate costs, as nginx tells by a datagram for each request
 * that it has let through (nginx/gate/measure.conf.in). A thread of its own takes them, so that
 * none is lost while Redis is waited for; once a second they are added to the queue's load in
 * Redis.
 *
 * A datagram ends in "|queue|statuses|seconds|": nginx's $upstream_status and
 * $upstream_response_time.
 */
#ifndef SLUICE_BOARD_ORIGIN_LOAD_H
#define SLUICE_BOARD_ORIGIN_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/admission/order_load.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis.h"

struct origin_load;

/** Listens at `path`, from which it takes what an earlier one has left there. Everybody who may
 *  reach the socket may send: its folder is nginx's and ours. NULL, with errno, where that
 *  cannot be. */
struct origin_load *origin_load_open(const char *path);

/** Adds what has come since the last time, if that is a second ago. What Redis does not take is
 *  kept for the next time. */
void origin_load_report(struct origin_load *load, struct redis *redis, struct arena *arena,
                        int64_t now_ms);

/** Ends the thread and takes the socket away. NULL is harmless. */
void origin_load_close(struct origin_load *load);

/** Reads one datagram into `*queue` (borrowed) and `counts`, to which it adds one. Returns false
 *  for anything else. */
bool origin_load_read(struct str datagram, struct str *queue, struct load_counts *counts);

#endif
