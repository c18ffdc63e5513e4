/*
 * order_body — reads the body of POST /v1/orders and gives it a fingerprint that does not depend on how it
 * was written down.
 */
#ifndef SLUICE_ORDER_ORDER_BODY_H
#define SLUICE_ORDER_ORDER_BODY_H

#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "lib/base/arena.h"
#include "lib/base/digest.h"
#include "lib/base/str.h"
#include "lib/orders/order_store.h"

struct order_body {
    struct str queue;         /* borrowed from the JSON */
    struct order_item *items; /* by SKU; in the arena, their text borrowed from the JSON */
    size_t *positions;        /* of each item, where it stood in the body */
    size_t item_count;        /* 1..ORDER_ITEMS_MAX */
    char fingerprint[SHA256_TEXT + 1];
};

/** What is wrong with a body. */
struct order_body_fault {
    const char *pointer; /* RFC 6901, in the arena */
    const char *why;     /* a sentence */
};

/** Reads `json`, an object. Returns false with `fault` filled where it is no order: a member that is
 *  missing, unknown or of the wrong type, a quantity out of range, an SKU that stands twice, or seats. */
bool order_body_read(struct arena *arena, json_object *json, struct order_body *body,
                     struct order_body_fault *fault);

/** The pointer to the SKU of that name, "/items" where there is none. */
const char *order_body_pointer(struct arena *arena, const struct order_body *body, struct str sku);

#endif
