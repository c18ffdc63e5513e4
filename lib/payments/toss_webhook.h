/*
 * toss_webhook — webhook calls of Toss Payments. Events about payments arrive unsigned and in any
 * order: they only say which payment to look up. Internal to lib/payments.
 */
#ifndef SLUICE_PAYMENTS_TOSS_WEBHOOK_H
#define SLUICE_PAYMENTS_TOSS_WEBHOOK_H

#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/payments/payment_provider.h"

/** Parses the body of a webhook call. */
enum payment_notice_outcome toss_notice(struct arena *arena, struct str body,
                                        struct payment_hint *hint);

#endif
