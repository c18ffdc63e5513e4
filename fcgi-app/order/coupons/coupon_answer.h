/*
 * coupon_answer — a coupon on the wire, and the problems that all coupon routes share.
 */
#ifndef SLUICE_ORDER_COUPON_ANSWER_H
#define SLUICE_ORDER_COUPON_ANSWER_H

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "lib/database/coupons/coupon_store.h"

/** Answers with a coupon of `event`: 201 if it is new, 200 if it was issued before. */
void coupon_answer(struct response *response, int status, struct str event,
                   const struct coupon *coupon);

/** Answers an outcome without a coupon that the route does not handle itself: NO_SUCH (event),
 *  UNAVAILABLE, UNKNOWN or FAILED. */
void coupon_answer_failure(const struct request *request, struct response *response,
                           enum coupon_outcome outcome);

/** Adds `,"name":"2026-…Z"`, or null for COUPON_NO_TIME and for a time outside the calendar. */
void coupon_answer_time(struct buffer *out, const char *name, int64_t ms);

/** Adds `,"name":"text"`. */
void coupon_answer_text(struct buffer *out, const char *name, struct str text);

/** Adds `,"name":number`. */
void coupon_answer_number(struct buffer *out, const char *name, int64_t number);

/** An event's state at `now_ms`: PRE_OPEN, OPEN, SOLD_OUT or ENDED. */
const char *coupon_answer_state(int64_t opens_ms, int64_t ends_ms, int64_t now_ms, int64_t left);

#endif
