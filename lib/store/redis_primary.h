/*
 * redis_primary — which primaries exist and whose data are known to be complete: for reconcile,
 * which repairs them.
 *
 * A primary's tenure ends with its process, or when another server takes its place. Redis loses
 * data only between two tenures, the last second (AOF, everysec) or what had not reached the
 * replica, and nothing in its data shows it. The tenures with complete data are therefore recorded
 * in Redis itself, in `sluice:tenures`: a Redis that lost everything has lost that record too, and
 * the record does not contain the new tenure of a Redis that lost only the latest writes.
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
    struct str run;  /* run id of the process */
    struct str id;   /* of the tenure */
    bool is_whole;   /* it is recorded: its data are complete */
};

struct redis_primaries {
    struct redis_primary *all; /* in the arena */
    size_t count;
    bool nothing_known; /* nothing was ever recorded: Redis is new, or has lost everything */
    bool none_ended; /* every recorded tenure is among them: the others are additional primaries */
    bool is_current; /* the record has exactly these */
};

/** Queries all primaries, for a cluster those that serve a slot. False if one does not answer,
 *  or a slot has none: try again. */
bool redis_primaries_look(struct redis *redis, struct arena *arena,
                          struct redis_primaries *primaries);

/** To be called before a queue's first data are written: records the primaries if nothing was
 *  ever recorded, so that no data are older than the record. False if that failed. */
bool redis_primaries_begin(struct redis *redis, struct arena *arena);

/** Whether the keys of `queue` are on a primary whose is_whole is false. */
bool redis_primaries_doubt(struct redis *redis, const struct redis_primaries *primaries,
                           struct arena *arena, struct str queue);

/** Records that exactly these primaries have complete data. */
bool redis_primaries_write(struct redis *redis, struct arena *arena,
                           const struct redis_primaries *primaries);

/** What the recorded primaries know about queues. */
struct redis_memory {
    struct str since; /* identifies the record; in the arena, empty for none */
    bool is_complete; /* every queue has been in Redis since then */
};

/** Reads it, before the queues are read. False if Redis did not answer. */
bool redis_memory_look(struct redis *redis, struct arena *arena, struct redis_memory *memory);

/** Records that every queue is in Redis, unless the primaries were recorded again since `memory`
 *  was read, or Redis has lost the record. False if Redis did not answer. */
bool redis_memory_complete(struct redis *redis, struct arena *arena,
                           const struct redis_memory *memory);

#endif
