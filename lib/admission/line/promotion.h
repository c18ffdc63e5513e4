/*
 * promotion — admitting the next members: the leadership of a queue and its tick. Used by the
 * scheduler.
 */
#ifndef SLUICE_ADMISSION_PROMOTION_H
#define SLUICE_ADMISSION_PROMOTION_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/admission/line/order_pool.h"
#include "lib/admission/outcome.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis.h"

/** What the scheduler needs to know of a queue's timing. */
struct promotion_pace {
    int64_t tick_ms;
    /* Most members that one call can admit: burst, batch cap, or a bound that keeps calls short. */
    int64_t most;
};

/** The result of one call, or of all calls of one tick. */
struct promotion_tick {
    int64_t admitted;
    int64_t expired;   /* READY tokens whose lifetime has ended */
    int64_t withdrawn; /* READY tokens that were not picked up in time */
    bool more;         /* another call would admit or collect more right now */
    int64_t waiting;
    int64_t ready;
    int64_t claimed;
    int64_t unpaid;
    /* No heartbeat of the order pool, or on hold: nobody is promoted, deadlines stand still. */
    bool frozen;
    /* A lottery's list has closed: nobody behind it is admitted before the draw. */
    bool draw_waits;
    int64_t highest_served; /* the highest number admitted so far; 0: none */
};

/** Acquires or renews the leadership of `queue` for `lease_ms`. LEADER; FOLLOWER: another scheduler
 *  has it; ADMISSION_UNAVAILABLE. */
enum outcome promotion_lead(struct redis *redis, struct arena *arena, struct str queue,
                            struct str owner, int64_t lease_ms);

/** Gives the leadership up. */
enum outcome promotion_hand_over(struct redis *redis, struct arena *arena, struct str queue,
                                 struct str owner);

/** Reads the pace of `queue`; returns false if Redis did not answer or does not have the
 *  queue. */
bool promotion_read_pace(struct redis *redis, struct arena *arena, struct str queue,
                         struct promotion_pace *pace);

/** One call of a tick: admits at most `most` members, within rate and room, with new entry tokens.
 *  `silence_ms` 0: no order pool is needed. `away_ms`: how long a member whose token was withdrawn
 *  keeps the number. `goes_on`: not the tick's first call. OK fills `tick`; NOT_LEADER, NOT_FOUND,
 *  ADMISSION_UNAVAILABLE. */
enum outcome promotion_run(struct redis *redis, struct arena *arena, struct str queue,
                           struct str owner, const struct order_pool_life *life, int64_t silence_ms,
                           int64_t away_ms, bool goes_on, int64_t most,
                           struct promotion_tick *tick);

/** The ids of all queues, an array reply of strings; NULL if Redis did not answer. */
const redisReply *promotion_queues(struct redis *redis, struct arena *arena);

/** The same ids, `*count` of them; NULL if Redis did not answer. */
struct str *promotion_queue_ids(struct redis *redis, struct arena *arena, size_t *count);

#endif
