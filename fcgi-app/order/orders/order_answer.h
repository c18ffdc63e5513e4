/*
 * order_answer — an order on the wire, and the problems that all order routes share.
 */
#ifndef SLUICE_ORDER_ORDER_ANSWER_H
#define SLUICE_ORDER_ORDER_ANSWER_H

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "lib/base/buffer.h"
#include "lib/base/log.h"
#include "lib/database/orders/order_store.h"

/** Appends `order` as a JSON object. */
void order_answer_write(struct buffer *out, const struct order *order);

/** Answers with `order`. */
void order_answer(struct response *response, int status, const struct order *order);

/** Answers an outcome without an order that the route does not handle itself: NONE, NOT_CANCELABLE,
 *  UNAVAILABLE, UNKNOWN or FAILED. */
void order_answer_failure(const struct request *request, struct response *response,
                          enum order_outcome outcome);

/** Logs an event of `order`; `member` is named by a hash only. */
void order_answer_log(enum log_level level, const char *event, const struct order *order,
                      struct str member, const char *claim);

#endif
