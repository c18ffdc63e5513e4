/*
 * payment_call — shared by the routes of the payment pool.
 */
#ifndef SLUICE_PAYMENT_PAYMENT_CALL_H
#define SLUICE_PAYMENT_PAYMENT_CALL_H

#include "fcgi-app/pool/services.h"
#include "lib/payments/payment_flow.h"

/** The payment flow with this worker's services. */
struct payment_flow payment_call_flow(const struct services *services);

#endif
