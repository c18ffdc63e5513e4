/*
 * availability — whether a queue has any goods left (products or coupons), and the state of each of
 * its coupon events: computed by PostgreSQL, published to Redis. To be called after a commit, never
 * within the transaction.
 */
#ifndef SLUICE_ORDERS_AVAILABILITY_H
#define SLUICE_ORDERS_AVAILABILITY_H

#include <stdbool.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/postgres.h"
#include "lib/store/redis.h"

/** Whether the rows have changed since the last finding, so that availability_publish() is due.
 *  Read-only. False also if PostgreSQL does not answer or the queue does not exist. */
bool availability_drifted(struct postgres *postgres, struct arena *arena, struct str queue);

/** Computes the finding, gives it the next change number and publishes it to Redis; where Redis has
 *  a number that PostgreSQL has lost, again with one above it. `reopen`: an
 *  operator resumes the queue, so a sold-out queue reopens even if its setting `reopen` is
 *  false. Returns false if either server did not answer (logged; safe to repeat); true for a
 *  queue that does not exist. */
bool availability_publish(struct postgres *postgres, struct redis *redis, struct arena *arena,
                          struct str queue, bool reopen);

#endif
