/*
 * abandoned_claims — claims to which Redis gave no answer in time. It may carry them out late; no
 * order was begun on them and none will be, so this worker gives them back itself as soon as Redis
 * answers, instead of leaving the member to wait until the lease has run out.
 */
#ifndef SLUICE_ORDER_ABANDONED_CLAIMS_H
#define SLUICE_ORDER_ABANDONED_CLAIMS_H

#include <stdint.h>

#include "fcgi-app/pool/services.h"
#include "lib/admission/claim.h"

/** Remembers a copy of `claim`. `now_ms` is monotonic. Of more than 64 the oldest is left to
 *  reconcile. */
void abandoned_claims_add(const struct claim *claim, int64_t now_ms);

/** Tries to give back all that are remembered. A claim that is not there yet is tried again for
 *  a minute: the command may still wait in the connection that was given up. */
void abandoned_claims_release(const struct services *services, struct arena *arena, int64_t now_ms);

#endif
