/*
 * object_pages — all objects of one kind that operators have defined, page by page: for lists and
 * for copying a shop's configuration.
 */
#ifndef SLUICE_ORDERS_OBJECT_PAGES_H
#define SLUICE_ORDERS_OBJECT_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/postgres.h"

enum object_kind { OBJECT_PRODUCT, OBJECT_COUPON_EVENT, OBJECT_CONCERT, OBJECT_SHOW };

/** One object; text lives as long as the arena. */
struct object_row {
    struct str id;
    struct str json; /* as its own route returns it: events without counts, shows without seats */
};

/** The first `limit` objects of `kind` that follow the id `after` (empty: from the first), ordered
 *  by id. POSTGRES_OK fills `*rows` and `*count`. */
enum postgres_outcome object_page(struct postgres *postgres, struct arena *arena,
                                  enum object_kind kind, struct str after, int64_t limit,
                                  const struct object_row **rows, size_t *count);

#endif
