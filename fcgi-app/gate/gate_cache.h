/*
 * gate_cache — what this process knows of the queues that stand before sites, so that most requests
 * are judged without asking Redis. It is refreshed at most every half second by a request that
 * happens to come, and so a change of settings, a reset and an eviction count within a second.
 */
#ifndef SLUICE_GATE_GATE_CACHE_H
#define SLUICE_GATE_GATE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

#include "lib/admission/gate.h"
#include "lib/admission/gate_bypass.h"
#include "lib/base/str.h"

enum {
    GATE_CACHE_REFRESH_MS = 400, /* from this age on, one request asks anew */
    GATE_CACHE_TRUSTED_MS = 900  /* beyond this age every request asks */
};

/** One queue. Text lives as long as the entry, which the next gate_cache_put() may replace. */
struct gate_knowledge {
    struct gate_view view;
    struct gate_bypass *bypass; /* NULL: none */
    int64_t read_at_ms;         /* monotonic */
    const struct str *ended;    /* admissions that ended lately from outside, sorted */
    size_t ended_count;
};

/** What is known of `queue`, NULL for nothing. */
const struct gate_knowledge *gate_cache_find(struct str queue);

/** True where the caller is to ask Redis and put the answer: nothing is known, it is too old to
 *  be trusted, or it is due and nobody else has been told so. `now_ms` is monotonic, here and
 *  below. */
bool gate_cache_is_due(struct str queue, int64_t now_ms);

/** Keeps a reply to gate_look(). A queue that was deleted is forgotten; no answer, and one from
 *  a Redis that has lost its memory, change nothing. Returns what is known afterwards, NULL for
 *  nothing. */
const struct gate_knowledge *gate_cache_put(struct str queue, const redisReply *reply,
                                            int64_t now_ms);

/** Redis TIME now, by the clock that has run since the knowledge was read. */
int64_t gate_cache_redis_ms(const struct gate_knowledge *known, int64_t now_ms);

/** Whether `admission` was ended lately from outside: evicted, or given back. */
bool gate_cache_has_ended(const struct gate_knowledge *known, struct str admission);

#endif
