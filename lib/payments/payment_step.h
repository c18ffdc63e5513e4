/*
 * payment_step — what the steps of payment_flow have in common. Internal to payment_flow.
 */
#ifndef SLUICE_PAYMENTS_PAYMENT_STEP_H
#define SLUICE_PAYMENTS_PAYMENT_STEP_H

#include "lib/base/log.h"
#include "lib/payments/payment_flow.h"

/** The payment as it is identified to the provider. The payer is a hash of the member: the same in
 *  each call, and no personal data. */
struct payment_subject payment_step_subject(struct arena *arena, struct str id, struct str ref,
                                            struct str member,
                                            const struct payment_amounts *amounts);

/** Whether an order ends with a failed payment: the setting payment_failure. */
bool payment_step_gives_back(const struct payment_flow *flow);

/** Carries what was recorded to Redis; should that fail, the outbox does it. */
void payment_step_publish(const struct payment_flow *flow, struct arena *arena,
                          const struct payment_effect *effect);

/** Logs a line about the payment `id`. `detail` may be empty. */
void payment_step_log(enum log_level level, const char *event, struct str id,
                      const struct payment_effect *effect, struct str detail);

/** Records what was taken, and publishes it to Redis. If PostgreSQL does not answer it retries
 *  twice, 300 ms apart, since the money has moved. `effect` is filled unless the outcome is NONE,
 *  UNAVAILABLE, UNKNOWN or FAILED. */
enum payment_stored payment_step_paid(const struct payment_flow *flow, struct arena *arena,
                                      struct str id, const struct payment_state *state,
                                      struct str why, struct payment_effect *effect);

/** The same for what was refunded. */
enum payment_stored payment_step_canceled(const struct payment_flow *flow, struct arena *arena,
                                          struct str id, const struct payment_state *state,
                                          struct str why, struct payment_effect *effect);

/** True if it was recorded, now or before, and `effect` is filled. */
bool payment_step_is_recorded(enum payment_stored stored);

#endif
