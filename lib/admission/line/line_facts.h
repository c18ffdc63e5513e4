/*
 * line_facts — derives a queue's state from plain reads of its hashes, as the Lua includes
 * settings, run_front and queue_state do, for the few queries that need no script.
 */
#ifndef SLUICE_ADMISSION_LINE_FACTS_H
#define SLUICE_ADMISSION_LINE_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/str.h"
#include "lib/store/redis_reply.h"

/** All text is borrowed from the replies. */
struct line_facts {
    struct str queue_state; /* as everyone sees it */
    struct str identity;
    struct str poll_tiers;
    bool on_hold;
    int64_t epoch;
    int64_t incarnation;
    int64_t rate_milli; /* admissions per 1000 seconds */
    int64_t now_ms;     /* Redis TIME */
};

/** The required fields of the hash `state`, in the order in which they must be requested. */
enum { LINE_FACTS_STATE_FIELDS = 4 };
extern const char *const LINE_FACTS_STATE[LINE_FACTS_STATE_FIELDS];

/** Reads the replies to TIME, HGET settings packed and HMGET state …. Returns false if one is
 *  malformed, or the queue is not an ordinary one that has had its first tick: then the script must
 *  be called. */
bool line_facts_read(const redisReply *time, const redisReply *packed, const redisReply *state,
                     struct line_facts *facts);

#endif
