/*
 * order_refusal — why an order was not placed, on the wire.
 */
#ifndef SLUICE_ORDER_ORDER_REFUSAL_H
#define SLUICE_ORDER_ORDER_REFUSAL_H

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/order/orders/order_body.h"
#include "lib/database/orders/order_store.h"

/** The key belongs to an order made from a different request. */
void order_refusal_key_reused(const struct request *request, struct response *response);

/** Answers the outcome of order_place() if nothing was written. */
void order_refusal_answer(const struct request *request, struct response *response,
                          const struct order_body *body, enum order_outcome outcome,
                          const struct order_placement *placement);

#endif
