/*
 * queue_stats — the numbers of a queue that operators watch, and its last seconds. Commands are built
 * here and sent by the caller; replies are read here.
 */
#ifndef SLUICE_ADMISSION_QUEUE_STATS_H
#define SLUICE_ADMISSION_QUEUE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/admission/outcome.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/metrics/metrics.h"
#include "lib/store/redis_command.h"

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

/** Requests the numbers and the last `samples` seconds, 1..QUEUE_SERIES_MAX. */
struct redis_command *queue_stats_ask(struct arena *arena, struct str queue, int64_t samples);

/** Reads them: OK, NOT_FOUND or ADMISSION_UNAVAILABLE. `reply` may be NULL. */
enum outcome queue_stats_read(const redisReply *reply, struct arena *arena,
                              struct queue_stats *stats);

/** Orders per 1000 seconds, from the last ten seconds of the history. */
int64_t queue_stats_consumed_milli(const struct queue_stats *stats);

#endif
