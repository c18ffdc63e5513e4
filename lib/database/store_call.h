/*
 * store_call — reads the result of a transaction that was sent with postgres_send(). For the
 * transactions of orders and coupons, which are retried once when PostgreSQL rolls them back in
 * favour of another transaction.
 */
#ifndef SLUICE_ORDERS_STORE_CALL_H
#define SLUICE_ORDERS_STORE_CALL_H

#include <stdbool.h>

#include "lib/base/arena.h"
#include "lib/database/store_refusal.h"
#include "lib/store/postgres.h"

/** Reads the finished `call`. True: `*rows` has its rows, which belong to the arena. False:
 *  `*refusal` says why there are none. After a deadlock or a serialization failure the call is sent
 *  once more, and waited for; a second such failure is STORE_UNAVAILABLE, never STORE_RETRY. `name`
 *  is for the log. */
bool store_call_read(struct postgres *postgres, struct arena *arena, struct postgres_call *call,
                     const char *name, const PGresult **rows, enum store_refusal *refusal);

#endif
