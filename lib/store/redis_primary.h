/*
 * redis_primary — the primaries that there are, and whose data are known to be whole: for
 * reconcile, which repairs them.
 *
 * A primary's tenure ends with its process, or when another takes its place. Whatever Redis
 * forgets, the last second (AOF, everysec) or what had not reached the replica, it forgets between
 * two tenures, and nothing in its data shows it. So what is whole is written down,
 * `sluice:tenures`, in Redis itself: a Redis that has forgotten all has forgotten that too, and of
 * one that has forgotten its end, the new tenure is not in it.
 */
#ifndef SLUICE_STORE_REDIS_PRIMARY_H
#define SLUICE_STORE_REDIS_PRIMARY_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis.h"

struct redis_primary {
    struct str name; /* for messages */
    struct str run;  /* of the process */
    struct str id;   /* of the tenure */
    bool is_whole;   /* it is written down */
};

struct redis_primaries {
    struct redis_primary *all; /* in the arena */
    size_t count;
    bool nothing_known; /* nothing was ever written down: Redis is new, or has forgotten all */
    bool
        none_ended; /* all that is written down are among them: whoever is not, has come in addition */
    bool is_current; /* what is written down is just these */
};

/** Asks all primaries, which for a cluster are those that serve a slot. False where one gives no
 *  answer, or a slot has none: the next look will tell. */
bool redis_primaries_look(struct redis *redis, struct arena *arena,
                          struct redis_primaries *primaries);

/** Before the first of a queue's data is written: writes the primaries down where nothing was
 *  ever written down, so that no data are older than that. False where it could not be done. */
bool redis_primaries_begin(struct redis *redis, struct arena *arena);

/** Whether the keys of `queue` are at a primary that is_whole says is not. */
bool redis_primaries_doubt(struct redis *redis, const struct redis_primaries *primaries,
                           struct arena *arena, struct str queue);

/** Writes down that the data of just these are whole. */
bool redis_primaries_write(struct redis *redis, struct arena *arena,
                           const struct redis_primaries *primaries);

/** What the primaries that are written down remember of queues. */
struct redis_memory {
    struct str since; /* of which writing this is; in the arena, empty for none */
    bool is_complete; /* every queue was there since then */
};

/** Reads it, before the queues are looked at. False where Redis gives no answer. */
bool redis_memory_look(struct redis *redis, struct arena *arena, struct redis_memory *memory);

/** Writes down that every queue is there, unless the primaries were written down anew since
 *  `memory` was read, or Redis has forgotten that they were. False where Redis gives no answer. */
bool redis_memory_complete(struct redis *redis, struct arena *arena,
                           const struct redis_memory *memory);

#endif
