/*
 * service_figures — monitoring figures of the service beside its queues, and what a queue sells.
 */
#ifndef SLUICE_ORDERS_SERVICE_FIGURES_H
#define SLUICE_ORDERS_SERVICE_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/postgres.h"

enum { GOODS_MAX = 200 };

struct service_figures {
    int64_t now_ms;            /* PostgreSQL's time, since 1970 */
    bool is_standby;           /* it takes no writes */
    int64_t payments_stuck;    /* that need an operator, counted up to 1000 */
    int64_t outbox_rows;       /* counted up to 10000 */
    int64_t outbox_oldest_ms;  /* age; -1: none */
    int64_t reconciled_ago_ms; /* since sluice-reconcile finished a pass; -1: never */
};

/** Something that a queue sells or gives away. Text lives as long as the arena. */
struct goods_row {
    struct str kind; /* product, coupon-event or show */
    struct str id;
    struct str name;
    int64_t total;
    int64_t left;
    bool costs; /* it has a price */
};

/** Reads the figures in one query. */
enum postgres_outcome service_figures_read(struct postgres *postgres, struct arena *arena,
                                           struct service_figures *figures);

/** What `queue` sells, ordered by kind and id, at most GOODS_MAX, into `*rows` (in the arena). */
enum postgres_outcome goods_list(struct postgres *postgres, struct arena *arena, struct str queue,
                                 struct goods_row **rows, size_t *count);

#endif
