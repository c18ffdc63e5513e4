/*
 * order_body — reads the body of POST /v1/orders and computes a fingerprint that does not depend on
 * its layout.
 */
#ifndef SLUICE_ORDER_ORDER_BODY_H
#define SLUICE_ORDER_ORDER_BODY_H

#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "fcgi-app/order/body_parts.h"
#include "lib/base/arena.h"
#include "lib/base/digest.h"
#include "lib/base/str.h"
#include "lib/database/orders/order_store.h"

struct order_body {
    struct str queue;         /* borrowed from the JSON */
    struct order_item *items; /* by SKU; in the arena, their text borrowed from the JSON */
    size_t *positions;        /* of each item, its index in the body */
    size_t item_count;        /* 1..ORDER_ITEMS_MAX; 0 if seats are ordered */
    struct str show;          /* borrowed from the JSON; empty if items are ordered */
    struct body_seats seats;  /* 1..ORDER_SEATS_MAX of that show */
    char fingerprint[SHA256_TEXT + 1];
};

/** Reads `json`, an object. Returns false with `fault` filled if it is no valid order: a missing,
 *  unknown or mistyped member, a quantity out of range, a duplicate SKU or seat, or items and seats
 *  in one order. */
bool order_body_read(struct arena *arena, json_object *json, struct order_body *body,
                     struct body_fault *fault);

/** The pointer to that SKU, "/items" if it is not in the body. */
const char *order_body_pointer(struct arena *arena, const struct order_body *body, struct str sku);

#endif
