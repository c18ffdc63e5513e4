/*
 * abandoned_claims — claims that Redis did not answer in time. It may still execute them; no order
 * was or will be begun on them, so this worker releases them as soon as Redis answers, instead of
 * leaving the member to wait until the lease expires.
 */
#ifndef SLUICE_ORDER_ABANDONED_CLAIMS_H
#define SLUICE_ORDER_ABANDONED_CLAIMS_H

#include <stdint.h>

#include "fcgi-app/pool/services.h"
#include "lib/admission/tokens/claim.h"

/** Remembers a copy of `claim`. `now_ms` is monotonic. Beyond 64, the oldest is dropped and left to
 *  reconcile. */
void abandoned_claims_add(const struct claim *claim, int64_t now_ms);

/** Tries to release all remembered claims. A claim that is not there yet is retried for a minute:
 *  the command may still be buffered in the connection that was closed. */
void abandoned_claims_release(const struct services *services, struct arena *arena, int64_t now_ms);

#endif
