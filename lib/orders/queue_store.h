/*
 * queue_store — queues in PostgreSQL, which knows them best, and their way from there into Redis. A
 * change is stored first, with its version and its row of the audit, and published then: publishing
 * may fail, come twice or late, and never undoes a newer change.
 */
#ifndef SLUICE_ORDERS_QUEUE_STORE_H
#define SLUICE_ORDERS_QUEUE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include "lib/admission/outcome.h"
#include "lib/admission/queue_publication.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/orders/audit_store.h"
#include "lib/store/postgres.h"
#include "lib/store/redis.h"

/** A queue as PostgreSQL has it. Everything in it lives in the arena that it was read into. */
struct queue_row {
    struct str id;
    json_object *settings;
    const char *operator_state; /* OPEN, PAUSED, DRAINING or SOLD_OUT */
    int64_t epoch;
    int64_t incarnation;
    int64_t version;
    int64_t seq_checkpoint;
    bool sold_out; /* nothing that is sold through it is left */
    int64_t sold_out_change;
    int64_t created_at_ms; /* this and the next two are ms since 1970 by PostgreSQL's clock */
    int64_t updated_at_ms;
    int64_t now_ms;
    bool deleted;
    struct str lottery_secret; /* of this epoch's draw; empty where none was ever to be */
    struct str lottery_draw;   /* "seed listHash ranges"; empty before it was held */
};

enum queue_change {
    QUEUE_CREATED, /* or brought back after a deletion: its line is new either way */
    QUEUE_CHANGED,
    QUEUE_SAME,  /* nothing to do: neither a version nor a row of the audit was spent */
    QUEUE_STALE, /* somebody changed it meanwhile: nothing was done */
    QUEUE_MISSING
};

enum queue_action {
    QUEUE_ACTION_PAUSE,
    QUEUE_ACTION_RESUME,
    QUEUE_ACTION_DRAIN,
    QUEUE_ACTION_SOLD_OUT,
    QUEUE_ACTION_RESET
};

/** Reads "pause", "resume", "drain", "sold-out" or "reset". */
bool queue_action_parse(struct str word, enum queue_action *action);

/** The word itself. */
const char *queue_action_word(enum queue_action action);

/** Creates the queue `id` with the complete `settings`, or replaces those that it has. `row` is filled for
 *  POSTGRES_OK. */
enum postgres_outcome queue_store_put(struct postgres *postgres, struct arena *arena, struct str id,
                                      json_object *settings, const struct change_author *author,
                                      enum queue_change *change, struct queue_row *row);

/** Replaces the settings of a queue whose version is still `version`. `row` is filled for
 *  POSTGRES_OK, unless the queue is MISSING. */
enum postgres_outcome queue_store_change(struct postgres *postgres, struct arena *arena,
                                         struct str id, int64_t version, json_object *settings,
                                         const struct change_author *author,
                                         enum queue_change *change, struct queue_row *row);

/** Carries out an action. As above. */
enum postgres_outcome queue_store_act(struct postgres *postgres, struct arena *arena, struct str id,
                                      enum queue_action action, const struct change_author *author,
                                      enum queue_change *change, struct queue_row *row);

/** Marks the queue as deleted. As above. */
enum postgres_outcome queue_store_delete(struct postgres *postgres, struct arena *arena,
                                         struct str id, const struct change_author *author,
                                         enum queue_change *change, struct queue_row *row);

/** Reads a queue; `*found` is false, and `row` not filled, where there is none or it was
 *  deleted. */
enum postgres_outcome queue_store_get(struct postgres *postgres, struct arena *arena, struct str id,
                                      bool *found, struct queue_row *row);

/** Reads all queues in order of their ids into `*rows` (in the arena), deleted ones only where
 *  wanted. */
enum postgres_outcome queue_store_list(struct postgres *postgres, struct arena *arena,
                                       bool deleted_too, struct queue_row **rows, size_t *count);

/** Publishes `row` to Redis, with the last finding of what is sold out, and puts the queue on
 *  the schedulers' list or takes it from there. Where Redis has no line of this queue one is
 *  made: no number up to `seq_floor` is given out, and it waits `recovery_ms` before it
 *  promotes. PUBLISHED, OLDER (Redis has this version or a newer one), NOT_FOUND (the intent
 *  does not fit) or ADMISSION_UNAVAILABLE. */
enum outcome queue_publish(struct redis *redis, struct arena *arena, const struct queue_row *row,
                           enum queue_publish_intent intent, int64_t seq_floor,
                           int64_t recovery_ms);

/** Publishes a change that was just made to a queue which Redis should know. NOT_FOUND, with
 *  nothing published, where it does not: Redis has lost its memory, and only recovery may make
 *  the line anew, for the tickets of those who wait are to be honoured. Otherwise as above. */
enum outcome queue_publish_change(struct redis *redis, struct arena *arena,
                                  const struct queue_row *row);

struct queue_publish_report {
    size_t published; /* queues of which Redis had an older version, or lacked a setting */
    struct queue_row
        *missing; /* that Redis does not know at all, though they were not made within the
                                    last seconds: to be recovered. In the arena */
    size_t missing_count;
    size_t on_their_way;         /* made within the last seconds, and not in Redis yet */
    enum postgres_outcome store; /* POSTGRES_OK, or why the list could not be read */
};

/** Brings all queues to Redis of which it has an older version, for their publishing failed, or
 *  this one as a host of an earlier release has published it, which does not know every setting.
 *  Returns false where PostgreSQL or Redis gave no answer; what was done until then stands in
 *  `report`. */
bool queue_publish_all(struct postgres *postgres, struct redis *redis, struct arena *arena,
                       struct queue_publish_report *report);

#endif
