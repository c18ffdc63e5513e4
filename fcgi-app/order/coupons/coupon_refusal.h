/*
 * coupon_refusal — why no coupon was issued, on the wire.
 */
#ifndef SLUICE_ORDER_COUPON_REFUSAL_H
#define SLUICE_ORDER_COUPON_REFUSAL_H

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "lib/database/coupons/coupon_store.h"

/** Every coupon of the event is issued. */
void coupon_refusal_sold_out(const struct request *request, struct response *response);

/** Unfinished transactions hold the last coupons. */
void coupon_refusal_busy(const struct request *request, struct response *response);

/** Answers the outcome of issue_coupon() if nothing was written. */
void coupon_refusal_answer(const struct request *request, struct response *response,
                           enum coupon_outcome outcome);

#endif
