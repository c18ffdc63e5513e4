/*
 * gate_cache — what this process knows of the queues in front of sites, so that most requests are
 * judged without a call to Redis. Requests refresh it at most every 0.4 s per worker, so a change
 * of settings, a reset and an eviction take effect within a second.
 */
#ifndef SLUICE_GATE_GATE_CACHE_H
#define SLUICE_GATE_GATE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

#include "lib/admission/gate/gate.h"
#include "lib/admission/gate/gate_bypass.h"
#include "lib/base/str.h"

enum {
    GATE_CACHE_REFRESH_MS = 400, /* from this age on, one request refreshes it */
    GATE_CACHE_TRUSTED_MS = 900  /* beyond this age every request reads Redis */
};

/** One queue. Text lives as long as the entry, which the next gate_cache_put() may replace. */
struct gate_knowledge {
    struct gate_view view;
    struct gate_bypass *bypass; /* NULL: none */
    int64_t read_at_ms;         /* monotonic */
    const struct str *ended;    /* admissions recently ended by an operator or the site, sorted */
    size_t ended_count;
};

/** Returns the entry of `queue`, or NULL. */
const struct gate_knowledge *gate_cache_find(struct str queue);

/** True if the caller is to read Redis and put the reply: there is no entry, it is too old to be
 *  trusted, or it is due for a refresh and no other request refreshes it. `now_ms` is
 *  monotonic, here and below. */
bool gate_cache_is_due(struct str queue, int64_t now_ms);

/** Stores a reply to gate_look(). A deleted queue is removed; no answer, or a reply from a Redis
 *  that has lost its memory, changes nothing. Returns the entry afterwards, or NULL. */
const struct gate_knowledge *gate_cache_put(struct str queue, const redisReply *reply,
                                            int64_t now_ms);

/** Redis TIME now, estimated from the monotonic clock since the entry was read. */
int64_t gate_cache_redis_ms(const struct gate_knowledge *known, int64_t now_ms);

/** Whether `admission` was recently ended by an operator (evicted) or the site (returned). */
bool gate_cache_has_ended(const struct gate_knowledge *known, struct str admission);

#endif
