/*
 * order_row — reads what every reading statement of orders begins with. Internal to the order
 * stores.
 */
#ifndef SLUICE_ORDERS_ORDER_ROW_H
#define SLUICE_ORDERS_ORDER_ROW_H

#include "lib/orders/order_store.h"

/* Columns: id, queue, status, total_amount, currency, created_us, expires_us, items, place_held,
 * show, seats, payment, pay_until_us; a statement's own ones come behind. */
enum { ORDER_COLUMNS = 13 };

/** Reads the order in `row`. Its text is the result's, its items and seats are in the arena. */
void order_row_read(struct arena *arena, const PGresult *result, int row, struct order *order);

/** True for a boolean field that says so. */
bool order_row_flag(const PGresult *result, int row, int column);

/** The outcome of a call that brought no rows and can only have been refused for no rule of
 *  ours. */
enum order_outcome order_row_refusal(const struct postgres *postgres, enum postgres_outcome outcome,
                                     const char *call);

#endif
