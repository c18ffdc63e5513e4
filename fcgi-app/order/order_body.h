/*
 * order_body — reads the body of POST /v1/orders and gives it a fingerprint that does not depend on
 * how it was written down.
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
#include "lib/orders/order_store.h"

struct order_body {
    struct str queue;         /* borrowed from the JSON */
    struct order_item *items; /* by SKU; in the arena, their text borrowed from the JSON */
    size_t *positions;        /* of each item, where it stood in the body */
    size_t item_count;        /* 1..ORDER_ITEMS_MAX; 0 where seats are ordered */
    struct str show;          /* borrowed from the JSON; empty where items are ordered */
    struct body_seats seats;  /* 1..ORDER_SEATS_MAX of that show */
    char fingerprint[SHA256_TEXT + 1];
};

/** Reads `json`, an object. Returns false with `fault` filled where it is no order: a member
 *  that is missing, unknown or of the wrong type, a quantity out of range, an SKU or a seat that
 *  stands twice, or items and seats in one order. */
bool order_body_read(struct arena *arena, json_object *json, struct order_body *body,
                     struct body_fault *fault);

/** The pointer to the SKU of that name, "/items" where there is none. */
const char *order_body_pointer(struct arena *arena, const struct order_body *body, struct str sku);

#endif
