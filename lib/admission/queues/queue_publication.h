/*
 * queue_publication — publishes queues from PostgreSQL to Redis, and reads the numbers that
 * operators watch. Commands are built here and sent by the caller; replies are read here.
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
#include "lib/metrics/metrics.h"
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

enum { QUEUE_SERIES_MAX = 900 };

/** One second of a queue's history; totals count from the queue's creation. */
struct queue_sample {
    int64_t second; /* since 1970, by Redis TIME */
    int64_t waiting;
    int64_t ready;
    int64_t claimed;
    int64_t entered;
    int64_t admitted;
    int64_t consumed;
    int64_t expired;
    int64_t left;
    /* From here on -1: unknown, or an older sample that ends before */
    int64_t withdrawn;
    int64_t rate_milli; /* the rate in force, admissions per 1000 seconds */
    int64_t p50_ms;     /* of orders */
    int64_t p95_ms;
    int64_t p99_ms;
    int64_t order_errors;
    int64_t promised_seconds; /* wait announced to those admitted last, when they entered */
    int64_t actual_seconds;   /* how long they waited */
};

struct queue_stats {
    struct str queue_state; /* borrowed from the reply, as is leader */
    struct str leader;      /* empty: no scheduler leads */
    int64_t waiting;
    int64_t away;
    int64_t ready;
    int64_t claimed;
    int64_t unpaid;
    int64_t entered;
    int64_t admitted;
    int64_t consumed;
    int64_t expired;
    int64_t left;
    int64_t withdrawn;
    int64_t returned;             /* visits ended by the site */
    int64_t evicted;              /* by an operator */
    int64_t watched_visits;       /* while the gate only watched */
    int64_t watched_would_wait;   /* of these */
    int64_t watched_longest_line; /* that there would have been */
    int64_t admitted_milli;       /* admissions per 1000 seconds, a moving average */
    int64_t rate_milli;           /* the rate in force, per 1000 seconds */
    int64_t order_p50_ms;         /* latency of recent orders; -1: none */
    int64_t order_p95_ms;
    int64_t order_p99_ms;
    int64_t origin_p95_ms;   /* of the site behind the gate */
    int64_t orders_answered; /* since the queue's creation, refusals by a rule included */
    int64_t order_errors;
    int64_t order_timeouts;
    int64_t orders_refused; /* more at once than maxInFlight */
    /* Wait announced, on entering, to the member admitted last; -1: unknown. */
    int64_t promised_wait_seconds;
    int64_t actual_wait_seconds; /* and how long it took */
    struct metric_waits late;    /* of all admitted, by how much the wait exceeded the promise */
    struct metric_waits early;
    int64_t now_ms;
    bool frozen; /* no order pool is alive, or it is on hold: deadlines stand still */
    int64_t last_seq;
    int64_t incarnation;
    int64_t recovering_until_ms;  /* 0: no */
    int64_t in_priority;          /* of those waiting: in the priority lane */
    int64_t in_lottery;           /* of those waiting: drawn, or to be drawn */
    struct queue_sample *samples; /* oldest first, in the arena */
    size_t sample_count;
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

/** Requests the numbers and the last `samples` seconds, 1..QUEUE_SERIES_MAX. */
struct redis_command *queue_publication_stats(struct arena *arena, struct str queue,
                                              int64_t samples);

/** Reads them: OK, NOT_FOUND or ADMISSION_UNAVAILABLE. `reply` may be NULL. */
enum outcome queue_publication_read_stats(const redisReply *reply, struct arena *arena,
                                          struct queue_stats *stats);

/** Orders per 1000 seconds, from the last ten seconds of the history. */
int64_t queue_stats_consumed_milli(const struct queue_stats *stats);

#endif
