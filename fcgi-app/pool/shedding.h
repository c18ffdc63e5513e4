/*
 * shedding — refuses requests that would be answered too late, before any work is done for them,
 * by kind: first reads, then entries, then new orders. What has begun is finished, and requests of
 * admitted visitors at the gate are never refused. The refusal is 503 with a randomized Retry-After
 * (http/problem.h); no place and no token is lost by it.
 *
 * The order and catalogue pools know the lateness of each request from nginx (REQUEST_AT), over TCP
 * from the kernel, as the clocks of hosts differ. The queue pool measures it: how long the oldest
 * ready event has waited for its turn, and the age of the oldest pending Redis command.
 */
#ifndef SLUICE_POOL_SHEDDING_H
#define SLUICE_POOL_SHEDDING_H

#include <stdbool.h>
#include <stdint.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/lateness.h"
#include "fcgi-app/pool/services.h"
#include "fcgi-app/router.h"

enum shed_kind {
    SHED_NEVER, /* probes, operators, payments, gate checks, requests that give something back */
    SHED_POLL,  /* positions, states of queues */
    SHED_ENTRY, /* entering */
    SHED_ROOM,  /* entering by the waiting page, which is answered with that page */
    SHED_READ,  /* reads of the order and catalogue pools */
    SHED_ORDER  /* new orders, coupons and holds */
};

/** What kind of request `route` is; NULL: SHED_NEVER. */
enum shed_kind shedding_kind(const struct route *route);

/** How late an event-driven worker is. */
struct shedding {
    const struct settings *settings;
    struct lateness turns; /* of events that are ready */
    struct lateness redis;
    int64_t ready_since_ms; /* since when an event may have been ready and unhandled */
    int64_t looked_at_ms;   /* when epoll was last called */
    bool left_some;         /* set by the loop: more may have been ready than it took */
};

/** The settings are borrowed. */
void shedding_start(struct shedding *shedding, const struct settings *settings, int64_t now_ms);

/** To be called when epoll has returned, at `now_ms`; the previous turn ended at `ended_ms`.
 *  `redis_ms`: age of the oldest pending Redis command. */
void shedding_turn(struct shedding *shedding, int64_t now_ms, int64_t ended_ms, int64_t redis_ms);

/** True if a request of this kind is to be refused now, by shedding_answer(), because turns are
 *  late. */
bool shedding_by_turns(const struct shedding *shedding, enum shed_kind kind);

/** The same for one that needs Redis, by Redis' lateness too; it is counted, and is to be finished
 *  as one that Redis did not answer. */
bool shedding_by_redis(const struct shedding *shedding, enum shed_kind kind);

/** True if a request of a blocking pool that has waited this long for a worker is to be refused. */
bool shedding_by_wait(const struct settings *settings, enum shed_kind kind, int64_t waited_ms);

/** Refuses one of `pool`, and counts it. */
void shedding_answer(enum pool pool, enum shed_kind kind, const struct request *request,
                     struct response *response);

#endif
