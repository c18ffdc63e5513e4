/*
 * product_store — products for sale and their stock.
 */
#ifndef SLUICE_ORDERS_PRODUCT_STORE_H
#define SLUICE_ORDERS_PRODUCT_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/postgres.h"

enum {
    PRODUCT_NAME_MAX = 200, /* characters */
    PRODUCT_STOCK_MAX = 1000000000
};
#define PRODUCT_PRICE_MAX INT64_C(1000000000000)

/** A product. Text in results lives as long as the arena. */
struct product {
    struct str sku;
    struct str name;     /* 1..PRODUCT_NAME_MAX characters, UTF-8, without NUL */
    int64_t price;       /* 0..PRODUCT_PRICE_MAX in the minor unit of currency */
    struct str currency; /* three capital letters */
    bool tax_free;       /* the price contains no VAT */
    int64_t stock;       /* 0..PRODUCT_STOCK_MAX: the total, sold and unsold */
    int64_t available;   /* the unsold part; ignored by product_put() */
    struct str queue;    /* through which it is sold */
};

enum product_outcome {
    PRODUCT_FOUND,
    PRODUCT_CREATED,
    PRODUCT_REPLACED,
    PRODUCT_NONE,
    PRODUCT_QUEUE_GONE,  /* there is no such queue */
    PRODUCT_BELOW_SOLD,  /* stock is less than was sold already */
    PRODUCT_QUEUE_FIXED, /* some were sold, so the product cannot change its queue */
    PRODUCT_UNAVAILABLE, /* PostgreSQL cannot do it now; it may have happened; may be repeated */
    PRODUCT_FAILED       /* refused because of a defect; logged */
};

/** Creates the product or replaces its definition; `available` changes by the same number as the
 *  stock. CREATED and REPLACED fill `*stored`; BELOW_SOLD sets `*sold` to the number sold. Call
 *  availability_publish() for its queue afterwards (the outbox does it too, also for the queue that
 *  it leaves). */
enum product_outcome product_put(struct postgres *postgres, struct arena *arena,
                                 const struct product *product, struct product *stored,
                                 int64_t *sold);

/** FOUND, NONE, UNAVAILABLE, or FAILED. */
enum product_outcome product_find(struct postgres *postgres, struct arena *arena, struct str sku,
                                  struct product *product);

#endif
