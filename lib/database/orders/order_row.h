/*
 * order_row — reads the columns that all statements returning orders have in common. Internal to
 * the order stores.
 */
#ifndef SLUICE_ORDERS_ORDER_ROW_H
#define SLUICE_ORDERS_ORDER_ROW_H

#include "lib/database/orders/order_store.h"

/* Columns: id, queue, status, total_amount, currency, created_us, expires_us, items, place_held,
 * show, seats, payment, pay_until_us; those specific to a statement follow. */
enum { ORDER_COLUMNS = 13 };

/** Reads the order in `row`. Its text belongs to the result, its items and seats to the arena. */
void order_row_read(struct arena *arena, const PGresult *result, int row, struct order *order);

/** True for a boolean field that is true. */
bool order_row_flag(const PGresult *result, int row, int column);

/** The outcome of a call that returned no rows and has no refusals of its own. */
enum order_outcome order_row_refusal(const struct postgres *postgres, enum postgres_outcome outcome,
                                     const char *call);

#endif
