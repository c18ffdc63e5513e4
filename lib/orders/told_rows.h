/*
 * told_rows — rows of the outbox that this process has carried out itself and that are not struck yet. The next
 * transaction of an order or a coupon strikes them along with what it does; what waits too long is struck by itself. Rows
 * that are forgotten here, because the process died, are carried out once more by reconcile, which does no harm.
 */
#ifndef SLUICE_ORDERS_TOLD_ROWS_H
#define SLUICE_ORDERS_TOLD_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/store/postgres.h"

enum {
    TOLD_ROWS_MAX = 64,
    TOLD_ROWS_BATCH = 16, /* so many are worth a statement */
    TOLD_ROWS_REST_MS = 1000
};

struct told_rows {
    int64_t ids[TOLD_ROWS_MAX]; /* oldest first */
    size_t count;
    int64_t since_ms; /* monotonic, when the first of them was added */
};

/** Remembers a row that was carried out; with TOLD_ROWS_MAX of them it is left to reconcile. Nothing for `row` ≤ 0. */
void told_rows_add(struct told_rows *told, int64_t row, int64_t now_ms);

/** How many the next transaction should strike: all of them, or 0 while they are fewer than TOLD_ROWS_BATCH. */
size_t told_rows_due(const struct told_rows *told);

/** The first `count` as the literal of a bigint[] in the arena, NULL for none. */
const char *told_rows_list(const struct told_rows *told, struct arena *arena, size_t count);

/** The first `count` are struck: a transaction that strikes them has committed. */
void told_rows_struck(struct told_rows *told, size_t count);

/** Strikes all of them in a transaction of its own, where the first has waited for TOLD_ROWS_REST_MS, or whenever
 *  there are any (`now_ms` INT64_MAX). Where PostgreSQL does not answer they stay. */
void told_rows_flush(struct told_rows *told, struct postgres *postgres, struct arena *arena,
                     int64_t now_ms);

#endif
