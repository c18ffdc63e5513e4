/*
 * queue_store — queues in PostgreSQL, the authoritative copy, and their publication to Redis. A
 * change is first stored, with its version and its audit row, and then published: publication may
 * fail, be repeated or be late, and never undoes a newer change.
 */
#ifndef SLUICE_ORDERS_QUEUE_STORE_H
#define SLUICE_ORDERS_QUEUE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "lib/admission/outcome.h"
#include "lib/admission/queues/queue_publication.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/database/audit/audit_store.h"
#include "lib/store/postgres.h"
#include "lib/store/redis.h"

/** A queue as PostgreSQL has it. Everything in it lives in the arena of the call that read it. */
struct queue_row {
    struct str id;
    json_object *settings;
    const char *operator_state; /* OPEN, PAUSED, DRAINING or SOLD_OUT */
    int64_t epoch;
    int64_t incarnation;
    int64_t version;
    int64_t seq_checkpoint;
    bool sold_out; /* nothing sold through it is left */
    int64_t sold_out_change;
    int64_t created_at_ms; /* this and the next two are ms since 1970 by PostgreSQL's clock */
    int64_t updated_at_ms;
    int64_t now_ms;
    bool deleted;
    struct str lottery_secret; /* of this epoch's draw; empty unless the queue was a lottery */
    struct str lottery_draw;   /* "seed listHash ranges"; empty before the draw */
};

enum queue_change {
    QUEUE_CREATED, /* or restored after a deletion: its line is new either way */
    QUEUE_CHANGED,
    QUEUE_SAME,  /* nothing to change: no new version and no audit row */
    QUEUE_STALE, /* changed concurrently: nothing was done */
    QUEUE_MISSING
};

enum queue_action {
    QUEUE_ACTION_PAUSE,
    QUEUE_ACTION_RESUME,
    QUEUE_ACTION_DRAIN,
    QUEUE_ACTION_SOLD_OUT,
    QUEUE_ACTION_RESET
};

/** Parses "pause", "resume", "drain", "sold-out" or "reset". */
bool queue_action_parse(struct str word, enum queue_action *action);

/** The word itself. */
const char *queue_action_word(enum queue_action action);

/** Replaces the settings of the queue `id` by the complete `settings` if its version is still
 *  `version`; creates it if there is none, whatever `version` is (0: there was none). `row` is
 *  filled for POSTGRES_OK. */
enum postgres_outcome queue_store_put(struct postgres *postgres, struct arena *arena, struct str id,
                                      int64_t version, json_object *settings,
                                      const struct change_author *author, enum queue_change *change,
                                      struct queue_row *row);

/** Replaces the settings of a queue if its version is still `version`. `row` is filled for
 *  POSTGRES_OK, unless the queue is MISSING. */
enum postgres_outcome queue_store_change(struct postgres *postgres, struct arena *arena,
                                         struct str id, int64_t version, json_object *settings,
                                         const struct change_author *author,
                                         enum queue_change *change, struct queue_row *row);

/** Carries out an operator's action. As above. */
enum postgres_outcome queue_store_act(struct postgres *postgres, struct arena *arena, struct str id,
                                      enum queue_action action, const struct change_author *author,
                                      enum queue_change *change, struct queue_row *row);

/** The version of a change that is made whatever the version is. */
enum { QUEUE_VERSION_ANY = -1 };

/** Marks the queue as deleted if its version is still `version`. As above. */
enum postgres_outcome queue_store_delete(struct postgres *postgres, struct arena *arena,
                                         struct str id, int64_t version,
                                         const struct change_author *author,
                                         enum queue_change *change, struct queue_row *row);

/** Reads a queue; `*found` is false, and `row` not filled, if it does not exist or was
 *  deleted. */
enum postgres_outcome queue_store_get(struct postgres *postgres, struct arena *arena, struct str id,
                                      bool *found, struct queue_row *row);

/** Reads all queues into `*rows` (in the arena), ordered by id, deleted ones only with
 *  `deleted_too`. */
enum postgres_outcome queue_store_list(struct postgres *postgres, struct arena *arena,
                                       bool deleted_too, struct queue_row **rows, size_t *count);

/** Publishes a queue that has just been created or deleted, with the last availability finding, and
 *  adds it to the schedulers' list or removes it. PUBLISHED, OLDER (Redis has this version or a
 *  newer one, or a deleted queue was created again), ADMISSION_UNAVAILABLE, or NOT_FOUND, with
 *  nothing published: Redis does not have the queue, and may have lost it since its creation, so
 *  only recovery may create the line. However late it is, it never recreates a queue that Redis
 *  has lost. */
enum outcome queue_publish_creation(struct postgres *postgres, struct redis *redis,
                                    struct arena *arena, const struct queue_row *row);

/** Publishes a recovered queue after its preparation. Its line gives out no number up to
 *  `seq_floor` and promotes nobody for `recovery_ms`. NOT_FOUND if it is not prepared in this
 *  incarnation and epoch; otherwise as above. */
enum outcome queue_publish_recovery(struct redis *redis, struct arena *arena,
                                    const struct queue_row *row, int64_t seq_floor,
                                    int64_t recovery_ms);

/** Publishes a change that was just made to a queue which Redis should have. NOT_FOUND, with
 *  nothing published, if Redis does not have it: it has lost its data, and only recovery may
 *  recreate the line, so that the tickets of waiting members are honoured. Otherwise as above. */
enum outcome queue_publish_change(struct redis *redis, struct arena *arena,
                                  const struct queue_row *row);

/** Locks a queue if it is empty, for a change that must not meet anybody: nobody enters it until a
 *  later version than `row->version` is published. Store the change with this version: it is
 *  STALE if the lock has been lifted. A lock whose change never comes is lifted by
 *  queue_publish_all(). OK, or nothing was locked: QUEUE_BUSY (fills `who`), OLDER (Redis has a
 *  later version, or the queue was deleted: read it again), NOT_FOUND (Redis has lost the queue) or
 *  ADMISSION_UNAVAILABLE. */
enum outcome queue_lock(struct redis *redis, struct arena *arena, const struct queue_row *row,
                        enum queue_lock_scope scope, struct queue_occupancy *who);

struct queue_publish_report {
    size_t published; /* queues of which Redis had an older version, or lacked a setting */
    /* To be recovered: queues that Redis does not have although they were not created within the
     * last seconds, or of which PostgreSQL has lost a recovery, a reset or a deletion. In the
     * arena. */
    struct queue_row *missing;
    size_t missing_count;
    size_t on_their_way;         /* created within the last seconds, and not in Redis yet */
    enum postgres_outcome store; /* POSTGRES_OK, or why PostgreSQL did not do all of it */
};

/** Publishes all queues of which Redis has an older version (their publication failed) or a version
 *  published by a host of an earlier release, which does not know every setting. Lifts locks whose
 *  change is not stored, by a version in which nothing else has changed. Where PostgreSQL has lost
 *  versions that Redis has, raises it above them and publishes what it has. Returns false
 *  if PostgreSQL or Redis did not answer; `report` then has what was done. */
bool queue_publish_all(struct postgres *postgres, struct redis *redis, struct arena *arena,
                       struct queue_publish_report *report);

/** Before a recovery: if Redis has a later version of the queue than `row`, PostgreSQL has lost it
 *  or `row` is outdated. Unless it is outdated, raises the stored version, and `row->version`,
 *  above that of Redis, which would otherwise ignore the recovered queue. Returns false if Redis
 *  did not answer (then `*store` is POSTGRES_OK) or PostgreSQL did not raise it. */
bool queue_version_outrun(struct postgres *postgres, struct redis *redis, struct arena *arena,
                          struct queue_row *row, enum postgres_outcome *store);

#endif
