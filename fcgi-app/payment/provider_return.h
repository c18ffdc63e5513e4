/*
 * provider_return — shared by the routes to which the provider sends the browser back:
 * approve_payment, cancel_payment, fail_payment.
 */
#ifndef SLUICE_PAYMENT_PROVIDER_RETURN_H
#define SLUICE_PAYMENT_PROVIDER_RETURN_H

#include <stdbool.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"
#include "lib/payments/payment_flow.h"

/** Gets the state of the payment. Returns false if `response` is already complete. */
bool provider_return_state(const struct request *request, struct response *response,
                           struct str *state);

/** Answers with what became of the payment. */
void provider_return_answer(const struct services *services, const struct request *request,
                            struct response *response, enum payment_returned_as as);

/** The whole request after a payment that the member left, or that `failed` at the provider. */
void provider_return_stop(const struct services *services, const struct request *request,
                          struct response *response, bool failed);

#endif
