/*
 * queue_repair — reconcile's operations on a queue in Redis: inconsistent places, and what has to be
 * loaded before a queue whose data Redis lost, all or in part, is published again.
 */
#ifndef SLUICE_ADMISSION_QUEUE_REPAIR_H
#define SLUICE_ADMISSION_QUEUE_REPAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/admission/outcome.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis.h"

/** Finds places that are in one set and missing from the others, and repairs them; `*mended` gets
 *  how many. OK, NOT_FOUND or ADMISSION_UNAVAILABLE. */
enum outcome places_mend(struct redis *redis, struct arena *arena, struct str queue,
                         int64_t *mended);

/** Before `queue` is recovered in `incarnation`: loads a page of the numbers whose owners have spent
 *  an admission: those that follow `after`, ascending. If Redis lost only the end of the queue's
 *  data, they leave the line. A last call without numbers, repeated while it returns MORE, ends the
 *  preparation: publishing a recovered queue requires it. `epoch` is PostgreSQL's: if Redis has an older one, its line is
 *  ignored, since publishing empties it. LOADED, MORE, PRESENT if the queue is recovered already, OLDER
 *  if a later recovery has begun or Redis has lost the pages before, or ADMISSION_UNAVAILABLE.
 *  `count` in 0..1000. OLDER sets `*known` to the latest incarnation that Redis knows of the queue,
 *  0 for none. */
enum outcome spent_numbers_load(struct redis *redis, struct arena *arena, struct str queue,
                                int64_t incarnation, int64_t epoch, int64_t after,
                                const int64_t *numbers, size_t count, int64_t *known);

/** Before `queue` is recovered in `incarnation`: loads the places that unpaid orders hold: `words`
 *  is member, order, member, order, …, `count` (2..1000) words. LOADED, PRESENT, OLDER as above, or
 *  ADMISSION_UNAVAILABLE. */
enum outcome unpaid_places_load(struct redis *redis, struct arena *arena, struct str queue,
                                int64_t incarnation, const struct str *words, size_t count,
                                int64_t *known);

/** Reads the places of `queue` that unpaid orders hold, as Redis has them: member, order, member,
 *  order, … in an array reply; NULL if Redis did not answer. */
const redisReply *unpaid_places_read(struct redis *redis, struct arena *arena, struct str queue);

#endif
