/*
 * toss_webhook — what Toss Payments tells of its own accord. Events about payments come unsigned
 * and in no order: they say which payment to look up, and nothing more. Used inside of lib/payments
 * only.
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

/** Reads a webhook call. `secret`: what must have signed it; empty: not looked at. */
enum payment_notice_outcome toss_notice(struct arena *arena, const struct payment_notice *notice,
                                        struct str secret, struct payment_hint *hint);

#endif
