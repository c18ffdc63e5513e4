/*
 * coupon_event_answer — shared by the operators' routes about coupon events.
 */
#ifndef SLUICE_OPERATOR_COUPON_EVENT_ANSWER_H
#define SLUICE_OPERATOR_COUPON_EVENT_ANSWER_H

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"
#include "lib/database/coupons/coupon_store.h"

/** Reads the event `id`, its counts included, and answers with it, or with the problem. */
void coupon_event_answer(const struct services *services, const struct request *request,
                         struct response *response, int status, struct str id);

/** Reads the event `id` without its counts. Returns false once a problem was answered. */
bool coupon_event_require(const struct services *services, const struct request *request,
                          struct response *response, struct str id, struct coupon_event *event);

/** Answers NO_SUCH, UNAVAILABLE, UNKNOWN or FAILED. Returns false. */
bool coupon_event_refuse(const struct request *request, struct response *response,
                         enum coupon_outcome outcome, struct str id);

#endif
