/*
 * cf_waiting_room — the `cfWaitingRoom` object that apps written for the largest commercial waiting
 * room read, so that they work unchanged.
 *
 * | field                                      | value                                          |
 * |--------------------------------------------|------------------------------------------------|
 * | inWaitingRoom                              | always true: an app that reads false proceeds  |
 * | waitTimeKnown, waitTime                    | minutes, rounded up; 0 where unknown           |
 * | waitTime25/50/75Percentile                 | waitTime in a lottery, else 0                  |
 * | waitTimeFormatted                          | "1 hour 10 minutes" or "unavailable"           |
 * | queueIsFull, queueAll                      | no one else may enter; everyone waits (hold)   |
 * | lastUpdated                                | now                                            |
 * | refreshIntervalSeconds                     | when to poll again; 0 if the queue rejects     |
 * | queueingMethod, isFIFOQueue, isRandomQueue | fifo, random (a lottery) or reject             |
 * | isPassthroughQueue, isRejectQueue          | likewise; nothing is passed through            |
 * | isEventActive                              | opensAt or closesAt is set, and not closed yet |
 * | isEventPrequeueing, timeUntilEventStart    | before opensAt; minutes                        |
 * | timeUntilEventEnd                          | minutes to closesAt                            |
 * | shuffleAtEventStart                        | a lottery with opensAt                         |
 * | turnstile, infiniteQueue                   | never used: "" and false                       |
 *
 * A queue rejects everyone once it is CLOSED, and members without a place while it is SOLD_OUT or
 * DRAINING.
 */
#ifndef SLUICE_GATE_CF_WAITING_ROOM_H
#define SLUICE_GATE_CF_WAITING_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buffer.h"
#include "lib/base/str.h"

enum cf_queueing { CF_FIFO, CF_RANDOM };

struct cf_waiting_room {
    bool in_line;
    bool queue_full;
    bool queue_all;        /* activation hold: the gate lets no one through */
    int64_t wait_seconds;  /* estimated, -1: unknown */
    int64_t retry_seconds; /* until the next poll, ≥ 0 */
    int64_t now_ms;        /* the queue's time, ms since 1970 up to the year 9999 */
    int64_t opens_at_ms;   /* likewise, -1: not set */
    int64_t closes_at_ms;  /* likewise, -1: not set */
    enum cf_queueing mode;
    struct str queue_state; /* PRE_OPEN, OPEN, PAUSED, DRAINING, SOLD_OUT or CLOSED */
};

/** Appends the object, `{…}` without its name. */
void cf_waiting_room_add(struct buffer *out, const struct cf_waiting_room *room);

#endif
