/*
 * queue_repair — what reconcile asks of a queue in Redis: claims past their lease, places that
 * drifted apart, and what has to be known before a queue that lost its memory, or the last of it,
 * comes back.
 */
#ifndef SLUICE_ADMISSION_QUEUE_REPAIR_H
#define SLUICE_ADMISSION_QUEUE_REPAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/admission/claim.h"
#include "lib/admission/outcome.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis.h"

/** Reads at most `most` (≥ 1) claims of `queue` whose lease has run out into `*claims` (in the
 *  arena). OK, NOT_FOUND or ADMISSION_UNAVAILABLE. */
enum outcome claims_overdue(struct redis *redis, struct arena *arena, struct str queue,
                            int64_t most, struct claim **claims, size_t *count);

/** Looks for places that stand in one set and not in the others and puts them right; `*mended`
 *  gets how many. OK, NOT_FOUND or ADMISSION_UNAVAILABLE. */
enum outcome places_mend(struct redis *redis, struct arena *arena, struct str queue,
                         int64_t *mended);

/** The time of Redis, ms since 1970. Returns false where Redis gave no answer. */
bool redis_time(struct redis *redis, struct arena *arena, int64_t *ms);

/** When all that is left in `queue` will be over, in ms since 1970, as Redis was told; 0: never,
 *  or no answer. */
int64_t goods_due(struct redis *redis, struct arena *arena, struct str queue);

/** Tells Redis, before `queue` comes back in `incarnation`, that the owners of these numbers have
 *  spent an admission; where Redis has forgotten only the last of the queue, they leave the line.
 *  To be called at least once, also without numbers: publishing a recovered queue asks for it.
 *  `epoch` is PostgreSQL's: where Redis knows an older one, its line is not looked at, for
 *  publishing empties it.
 *  LOADED, PRESENT where the queue is back already, or ADMISSION_UNAVAILABLE. `count` in
 *  0..1000. */
enum outcome spent_numbers_load(struct redis *redis, struct arena *arena, struct str queue,
                                int64_t incarnation, int64_t epoch, const int64_t *numbers,
                                size_t count);

/** Tells Redis, before `queue` comes back in `incarnation`, which places unpaid orders hold:
 *  `words` is member, order, member, order, …, `count` (2..1000) words. LOADED, PRESENT or
 *  ADMISSION_UNAVAILABLE. */
enum outcome unpaid_places_load(struct redis *redis, struct arena *arena, struct str queue,
                                int64_t incarnation, const struct str *words, size_t count);

/** Reads the places of `queue` that unpaid orders hold, as Redis knows them: member, order,
 *  member, order, … in an array reply; NULL where Redis gave no answer. */
const redisReply *unpaid_places_read(struct redis *redis, struct arena *arena, struct str queue);

#endif
