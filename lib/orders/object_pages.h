/*
 * object_pages — everything of one kind that operators have made, by pages: for lists, and to copy
 * a shop's settings.
 */
#ifndef SLUICE_ORDERS_OBJECT_PAGES_H
#define SLUICE_ORDERS_OBJECT_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/postgres.h"

enum object_kind { OBJECT_PRODUCT, OBJECT_COUPON_EVENT, OBJECT_CONCERT, OBJECT_SHOW };

/** One object; text is borrowed from the answer, which lives as long as the arena. */
struct object_row {
    struct str id;
    struct str json; /* as its own route gives it: events without counts, shows without seats */
};

/** The first `limit` objects of `kind` behind the id `after` (empty: from the first), in order of their ids. For
 *  POSTGRES_OK `*rows` has `*count` of them. */
enum postgres_outcome object_page(struct postgres *postgres, struct arena *arena,
                                  enum object_kind kind, struct str after, int64_t limit,
                                  const struct object_row **rows, size_t *count);

#endif
