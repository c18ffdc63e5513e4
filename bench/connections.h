/*
 * connections — kept HTTP connections to one port of this machine, as many as are needed up to a
 * bound, in one thread. A request that cannot get a connection is refused at once: the sender
 * counts it as dropped, for in an open model nobody waits for somebody else's answer.
 */
#ifndef SLUICE_BENCH_CONNECTIONS_H
#define SLUICE_BENCH_CONNECTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buffer.h"
#include "lib/base/str.h"

struct connections;

/** What came of a request. `status` is 0 where the connection was lost; `body` is borrowed for
 *  the call. */
typedef void (*connections_answered)(void *owner, uint32_t tag, int status, int64_t retry_after_s,
                                     struct str body);

/** For 127.0.0.1:`port`, at most `most` (≥ 1) connections. Ends the process where there is no
 *  memory. */
struct connections *connections_new(int port, uint32_t most, connections_answered answered,
                                    void *owner);

void connections_free(struct connections *connections);

/** Opens `count` connections beforehand, so that a burst measures requests and not handshakes. */
void connections_warm_up(struct connections *connections, uint32_t count);

/** Sends one request; its answer comes by `answered` with `tag`. Returns false where every
 *  connection is in use. */
bool connections_send(struct connections *connections, uint32_t tag, struct str request);

/** Takes in what has arrived, waiting at most `wait_us` for the first. */
void connections_receive(struct connections *connections, int64_t wait_us);

/** Requests without an answer so far. */
uint32_t connections_in_flight(const struct connections *connections);

#endif
