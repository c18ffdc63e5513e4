/*
 * toss_webhook — webhook calls of Toss Payments. Events about payments arrive unsigned and in any
 * order: they only say which payment to look up. Internal to lib/payments.
 */
#ifndef SLUICE_PAYMENTS_TOSS_WEBHOOK_H
#define SLUICE_PAYMENTS_TOSS_WEBHOOK_H

#include <stddef.h>

#include "lib/base/arena.h"
#include "lib/base/buffer.h"
#include "lib/base/str.h"
#include "lib/payments/payment_provider.h"

/** Appends base64 with padding. */
void toss_base64(struct buffer *out, const void *bytes, size_t n);

/** Parses a webhook call. `secret`: key of the expected signature; empty: not checked. */
enum payment_notice_outcome toss_notice(struct arena *arena, const struct payment_notice *notice,
                                        struct str secret, struct payment_hint *hint);

#endif
