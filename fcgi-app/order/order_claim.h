/*
 * order_claim — the claim of an order or a coupon, from taking the token to spending it or giving
 * it back, as far as Redis is concerned. What comes after PostgreSQL's word may not fail the
 * request: what could not be done is logged, and the outbox or the lease gets it done.
 */
#ifndef SLUICE_ORDER_ORDER_CLAIM_H
#define SLUICE_ORDER_ORDER_CLAIM_H

#include <stdbool.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/order/body_parts.h"
#include "fcgi-app/pool/services.h"
#include "lib/admission/claim.h"
#include "lib/admission/seats.h"

/** Takes the token of `claim` for a transaction and its repeat, and for `spare_ms` (≥ 0) more.
 *  Left to the route are CLAIMED, REPLAY, NOT_FOUND (Redis does not know the queue) and, for a
 *  coupon, ALREADY and SOLD_OUT; any other outcome is answered. */
enum outcome order_claim_take(const struct services *services, const struct request *request,
                              struct response *response, struct claim *claim, int64_t spare_ms);

/** As order_claim_take(), for an order of `seats` of `show`, whose holds are guarded from then
 *  on. Left to the route is SEAT_NOT_HELD too; `*refusal` then names the seats. */
enum outcome order_claim_take_seats(const struct services *services, const struct request *request,
                                    struct response *response, struct claim *claim, struct str show,
                                    const struct body_seats *seats, struct seat_refusal *refusal);

/** The token has bought `order`. `keep_place`: the order is unpaid and holds its member's place.
 *  `row`: what the outbox says of it, to be deleted once Redis has heard; 0 where that is left
 *  to reconcile. */
void order_claim_consume(const struct services *services, const struct request *request,
                         const struct claim *claim, struct str order, bool keep_place, int64_t row);

/** The transaction was rolled back: the token is READY again. */
void order_claim_release(const struct services *services, const struct request *request,
                         const struct claim *claim);

/** As order_claim_release(), where PostgreSQL could not do it: counts as an error in the queue's
 *  load. */
void order_claim_failed(const struct services *services, const struct request *request,
                        const struct claim *claim);

/** Nobody knows what has become of it, and the claim stays: counts as a time-out in the queue's
 *  load. */
void order_claim_unknown(const struct services *services, const struct request *request,
                         const struct claim *claim);

/** PostgreSQL knows the token to be spent on something else, which Redis did not: it is told so,
 *  and the request is answered with ENTRY_TOKEN_INVALID. */
void order_claim_spent(const struct services *services, const struct request *request,
                       struct response *response, const struct claim *claim,
                       const struct claim_spender *spender);

#endif
