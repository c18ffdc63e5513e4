/*
 * order_claim — the claim of an order or a coupon in Redis, from taking the token to consuming or
 * releasing it. Steps after PostgreSQL's result must not fail the request: a failure is logged, and
 * the outbox or the lease completes the step.
 */
#ifndef SLUICE_ORDER_ORDER_CLAIM_H
#define SLUICE_ORDER_ORDER_CLAIM_H

#include <stdbool.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/order/body_parts.h"
#include "fcgi-app/pool/services.h"
#include "lib/admission/seats/seats.h"
#include "lib/admission/tokens/claim.h"

/** Takes the token of `claim` for a transaction and its retry, and for `spare_ms` (≥ 0) more. The
 *  route handles CLAIMED, REPLAY, NOT_FOUND (the queue is missing in Redis) and, for a coupon,
 *  ALREADY and SOLD_OUT; any other outcome is answered. */
enum outcome order_claim_take(const struct services *services, const struct request *request,
                              struct response *response, struct claim *claim, int64_t spare_ms);

/** As order_claim_take(), for an order of `seats` of `show`, whose holds are guarded from then on.
 *  The route handles SEAT_NOT_HELD too; `*refusal` then names the seats. */
enum outcome order_claim_take_seats(const struct services *services, const struct request *request,
                                    struct response *response, struct claim *claim, struct str show,
                                    const struct body_seats *seats, struct seat_refusal *refusal);

/** The token was spent on `order`. `keep_place`: the order is unpaid and holds its member's place.
 *  `row`: its row in the outbox, deleted once Redis has applied it; 0 leaves that to reconcile. */
void order_claim_consume(const struct services *services, const struct request *request,
                         const struct claim *claim, struct str order, bool keep_place, int64_t row);

/** The transaction was rolled back: the token is READY again. */
void order_claim_release(const struct services *services, const struct request *request,
                         const struct claim *claim);

/** As order_claim_release(), if PostgreSQL failed: counts as an error in the queue's load. */
void order_claim_failed(const struct services *services, const struct request *request,
                        const struct claim *claim);

/** The outcome of the transaction is unknown; the claim stays. Counts as a time-out in the queue's
 *  load. */
void order_claim_unknown(const struct services *services, const struct request *request,
                         const struct claim *claim);

/** PostgreSQL has recorded that the token was spent on something else, which Redis did not know:
 *  consumes it in Redis, and answers with ENTRY_TOKEN_INVALID. */
void order_claim_spent(const struct services *services, const struct request *request,
                       struct response *response, const struct claim *claim,
                       const struct claim_spender *spender);

#endif
