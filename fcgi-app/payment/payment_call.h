/*
 * payment_call — what the routes of the payment pool have in common.
 */
#ifndef SLUICE_PAYMENT_PAYMENT_CALL_H
#define SLUICE_PAYMENT_PAYMENT_CALL_H

#include "fcgi-app/pool/services.h"
#include "lib/payments/payment_flow.h"

/** The way of a payment, with what this worker has. */
struct payment_flow payment_call_flow(const struct services *services);

#endif
