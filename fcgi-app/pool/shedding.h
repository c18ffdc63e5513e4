/*
 * shedding — refuses what would be answered too late anyway, before any work is done for it, by
 * kind: who only looks first, then who enters, then new orders. Whatever was begun is finished, and
 * nobody at the gate is put out. Refused is with 503 and a Retry-After that is spread
 * (http/problem.h); no place and no token is lost by it.
 *
 * The order and catalogue pools know how late each request is by nginx' word (REQUEST_AT), over TCP
 * by the kernel's, for clocks of hosts differ. The queue pool measures itself: how long the oldest
 * of what was ready has waited for its turn, and how old the oldest question to Redis is.
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
    SHED_NEVER, /* probes, operators, payments, who is let through the gate, what gives something back */
    SHED_POLL,  /* where one stands, how a queue is */
    SHED_ENTRY, /* entering */
    SHED_ROOM,  /* entering by the waiting page, which is answered with that page */
    SHED_READ,  /* what the order and catalogue pools only read */
    SHED_ORDER  /* orders, coupons and holds that are still to be begun */
};

/** What kind of request `route` is; NULL: SHED_NEVER. */
enum shed_kind shedding_kind(const struct route *route);

/** How late an event-driven worker is. */
struct shedding {
    const struct settings *settings;
    struct lateness turns; /* of what is ready to be looked at */
    struct lateness redis;
    int64_t ready_since_ms; /* since when something may have been ready and not looked at */
    int64_t looked_at_ms;   /* when it was last asked what is ready */
    bool left_some;         /* the loop says: more may have been ready then than it took */
};

/** The settings are borrowed. */
void shedding_start(struct shedding *shedding, const struct settings *settings, int64_t now_ms);

/** To be called when epoll has told what is ready, at `now_ms`; the turn before ended at
 *  `ended_ms`. `redis_ms`: how old the oldest question to Redis is. */
void shedding_turn(struct shedding *shedding, int64_t now_ms, int64_t ended_ms, int64_t redis_ms);

/** True where a request of this kind is to be refused now for want of time, by
 *  shedding_answer(). */
bool shedding_by_turns(const struct shedding *shedding, enum shed_kind kind);

/** The same for one that needs Redis, by Redis' lateness too; it is counted, and to be finished
 *  as one to which Redis gave no answer. */
bool shedding_by_redis(const struct shedding *shedding, enum shed_kind kind);

/** True where a request of a blocking pool that has waited so long for a worker is to be
 *  refused. */
bool shedding_by_wait(const struct settings *settings, enum shed_kind kind, int64_t waited_ms);

/** Refuses one of `pool`, and counts it. */
void shedding_answer(enum pool pool, enum shed_kind kind, const struct request *request,
                     struct response *response);

#endif
