/*
 * queue_publication — publishes queues from PostgreSQL to Redis, and locks empty ones for a change.
 * Commands are built here and sent by the caller; replies are read here.
 */
#ifndef SLUICE_ADMISSION_QUEUE_PUBLICATION_H
#define SLUICE_ADMISSION_QUEUE_PUBLICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "lib/admission/outcome.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis_command.h"

enum queue_publish_intent {
    QUEUE_PUBLISH_CREATE, /* the queue is new, or deleted; see `announced` */
    QUEUE_PUBLISH_CHANGE, /* only if Redis has its line: NOT_FOUND otherwise */
    QUEUE_PUBLISH_RECOVER /* only after spent_numbers_load() has prepared this incarnation */
};

/** A queue as published to Redis. All text is borrowed. */
struct queue_publication {
    enum queue_publish_intent intent;
    struct str queue;
    json_object *settings;     /* as PostgreSQL stores them */
    struct str operator_state; /* OPEN, PAUSED, DRAINING or SOLD_OUT */
    int64_t version;           /* ignored if Redis has this one or a newer one */
    int64_t epoch;             /* a new one empties the line */
    int64_t incarnation;
    bool deleted;              /* empties the line and leaves a record of the deletion */
    int64_t seq_floor;         /* for a line that is created: no number up to it is given out */
    int64_t recovery_ms;       /* likewise: how long it promotes nobody */
    struct str announced;      /* as in queue_publication_announce(); empty: not announced, and
                                  QUEUE_PUBLISH_CREATE is NOT_FOUND unless Redis has the queue */
    struct str lottery_secret; /* empty: the queue is no lottery */
    struct str lottery_draw;   /* "seed listHash ranges", empty before the draw */
};

/** Announces the publication of a queue that Redis may not have, under a name that no other
 *  publication has. */
struct redis_command *queue_publication_announce(struct arena *arena, struct str queue,
                                                 struct str name);

/** PUBLISHED, OLDER or NOT_FOUND. */
struct redis_command *queue_publication_publish(struct arena *arena,
                                                const struct queue_publication *publication);

/** Requests the version and the incarnation that Redis has. */
struct redis_command *queue_publication_version(struct arena *arena, struct str queue);

/** Reads that version; -1 if Redis has no settings of the queue. `reply` is not NULL. */
int64_t queue_publication_read_version(const redisReply *reply);

/** Reads that incarnation; 0 if Redis has no settings of the queue. */
int64_t queue_publication_read_incarnation(const redisReply *reply);

/** Reads the epoch of that version; 0 if Redis has no settings of the queue. */
int64_t queue_publication_read_epoch(const redisReply *reply);

/** Whether that version is a deletion. */
bool queue_publication_read_deleted(const redisReply *reply);

/** Whether the queue is locked on that version: see queue_publication_lock(). */
bool queue_publication_read_locked(const redisReply *reply);

/** Whether the publisher knew every setting that this release knows: a host of an earlier release
 *  leaves some out, and the queue is then published again. */
bool queue_publication_read_whole(const redisReply *reply);

/** Who has to be absent from a queue that is locked. */
enum queue_lock_scope {
    QUEUE_LOCK_LINE, /* members waiting, away, or READY without having picked up the token */
    QUEUE_LOCK_ALL   /* also members who hold an entry token, order or have an unpaid order */
};

/** Who is in a queue. */
struct queue_occupancy {
    int64_t waiting;
    int64_t away;
    int64_t ready;
    int64_t claimed;
    int64_t unpaid;
    int64_t pickup; /* of `ready`, those whose token was not picked up */
};

/** Locks an empty queue: nobody enters it until a later version than `version`, which Redis must
 *  have, is published. */
struct redis_command *queue_publication_lock(struct arena *arena, struct str queue, int64_t version,
                                             enum queue_lock_scope scope);

/** OK, QUEUE_BUSY (fills `who`: the queue is not empty, and not locked), OLDER (Redis has another
 *  version), NOT_FOUND or ADMISSION_UNAVAILABLE. `reply` may be NULL. */
enum outcome queue_publication_read_lock(const redisReply *reply, struct queue_occupancy *who);

/** Adds the queue to the schedulers' list, or removes it. */
struct redis_command *queue_publication_listed(struct arena *arena, struct str queue, bool listed);

#endif
