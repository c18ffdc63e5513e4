/*
 * promotion — letting the next ones in: the leadership of a queue and its tick. Used by the
 * scheduler.
 */
#ifndef SLUICE_ADMISSION_PROMOTION_H
#define SLUICE_ADMISSION_PROMOTION_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/admission/outcome.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis.h"

/** What the scheduler must know of a queue to keep its time. */
struct promotion_pace {
    int64_t tick_ms;
    int64_t most; /* most that one call can let in: burst, batch cap or what keeps a call short */
};

/** What one call, or all calls of one tick, did. */
struct promotion_tick {
    int64_t admitted;
    int64_t expired;   /* READY tokens whose life had ended */
    int64_t withdrawn; /* READY tokens whose owner did not come back */
    bool more;         /* another call would let in or collect more at once */
    int64_t waiting;
    int64_t ready;
    int64_t claimed;
    int64_t unpaid;
    bool
        frozen; /* the order pool shows no sign of life: nobody is promoted, deadlines stand still */
    bool
        draw_waits; /* a lottery's list has closed: nobody behind it is let in before it is drawn */
    int64_t highest_served; /* the highest number let in so far; 0: none */
};

/** Takes or renews the leadership of `queue` for `lease_ms`. LEADER; FOLLOWER: another has it;
 *  ADMISSION_UNAVAILABLE. */
enum outcome promotion_lead(struct redis *redis, struct arena *arena, struct str queue,
                            struct str owner, int64_t lease_ms);

/** Gives the leadership up at once. */
enum outcome promotion_hand_over(struct redis *redis, struct arena *arena, struct str queue,
                                 struct str owner);

/** The order pool's signs of life, by Redis TIME. */
struct promotion_pool_life {
    int64_t seen_ms;   /* the last one, ms since 1970; -1 for never */
    int64_t silent_ms; /* length of all outages that ended */
};

/** Reads them. Returns false where Redis gave no answer. */
bool promotion_read_pool_life(struct redis *redis, struct arena *arena,
                              struct promotion_pool_life *life);

/** Reads the pace of `queue`; returns false where Redis gave no answer or the queue is not
 *  there. */
bool promotion_read_pace(struct redis *redis, struct arena *arena, struct str queue,
                         struct promotion_pace *pace);

/** One call of a tick: lets at most `most` members in, within rate and room, with fresh entry
 *  tokens. `silence_ms` 0: no order pool is needed. `away_ms`: how long one who did not come
 *  back keeps the number. `goes_on`: it is not the tick's first call. OK fills `tick`;
 *  NOT_LEADER, NOT_FOUND, ADMISSION_UNAVAILABLE. */
enum outcome promotion_run(struct redis *redis, struct arena *arena, struct str queue,
                           struct str owner, const struct promotion_pool_life *life,
                           int64_t silence_ms, int64_t away_ms, bool goes_on, int64_t most,
                           struct promotion_tick *tick);

/** The ids of all queues, as an array reply of strings; NULL where Redis gave no answer. */
const redisReply *promotion_queues(struct redis *redis, struct arena *arena);

#endif
