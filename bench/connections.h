/*
 * connections — kept HTTP connections to one port of this machine, opened on demand up to a bound,
 * in one thread. Without a free connection a request is refused immediately and the sender counts
 * it as dropped: in an open model no request waits for the answer to another.
 */
#ifndef SLUICE_BENCH_CONNECTIONS_H
#define SLUICE_BENCH_CONNECTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buffer.h"
#include "lib/base/str.h"

struct connections;

/** The result of a request. `status` is 0 if the connection was lost; `body` is borrowed during the
 *  call. */
typedef void (*connections_answered)(void *owner, uint32_t tag, int status, int64_t retry_after_s,
                                     struct str body);

/** For 127.0.0.1:`port`, at most `most` (≥ 1) connections. Exits the process if there is no
 *  memory. */
struct connections *connections_new(int port, uint32_t most, connections_answered answered,
                                    void *owner);

/** Closes them all and releases the memory. Requests in flight end without an answer. */
void connections_free(struct connections *connections);

/** Opens `count` connections in advance, so that a burst measures requests and not handshakes. */
void connections_warm_up(struct connections *connections, uint32_t count);

/** Sends one request; `answered` is called with `tag`. Returns false if every connection is in
 *  use. */
bool connections_send(struct connections *connections, uint32_t tag, struct str request);

/** Handles what has arrived, waiting at most `wait_us` for the first. */
void connections_receive(struct connections *connections, int64_t wait_us);

/** Requests without an answer so far. */
uint32_t connections_in_flight(const struct connections *connections);

#endif
