/*
 * order_claim — the end of a claim, as far as Redis is concerned. Neither may fail the request: what could
 * not be done is logged, and the outbox or the lease gets it done.
 */
#ifndef SLUICE_ORDER_ORDER_CLAIM_H
#define SLUICE_ORDER_ORDER_CLAIM_H

#include <stdbool.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/pool/services.h"
#include "lib/admission/claim.h"

/** The token has bought `order`. `keep_place`: the order is unpaid and holds its member's place. */
void order_claim_consume(const struct services *services, const struct request *request,
                         const struct claim *claim, struct str order, bool keep_place);

/** The transaction was rolled back: the token is READY again. */
void order_claim_release(const struct services *services, const struct request *request,
                         const struct claim *claim);

#endif
