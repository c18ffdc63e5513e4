/*
 * store_refusal — what a call that returned no rows means for its caller, the same for every store.
 */
#ifndef SLUICE_ORDERS_STORE_REFUSAL_H
#define SLUICE_ORDERS_STORE_REFUSAL_H

#include <stdbool.h>

#include "lib/admission/tokens/claim.h"
#include "lib/store/postgres.h"

enum store_refusal {
    STORE_RULE,        /* one of our own SQLSTATEs, SLnnn: see store_refusal_is() */
    STORE_RETRY,       /* rolled back in favour of another transaction: a retry may succeed */
    STORE_UNAVAILABLE, /* the server cannot do it now; it did not happen */
    STORE_UNKNOWN,     /* no answer: it may have happened, or may yet happen */
    STORE_DEFECT       /* anything else; logged with `call`; it did not happen */
};

/** Classifies `outcome`, which is not POSTGRES_OK, of the last call. */
enum store_refusal store_refusal_of(const struct postgres *postgres, enum postgres_outcome outcome,
                                    const char *call);

/** True when the last call was refused with `sqlstate`. */
bool store_refusal_is(const struct postgres *postgres, const char *sqlstate);

/** Parses the DETAIL of ADMISSION_SPENT (SL004), which `spender` borrows: order or coupon id, key
 *  hash, and t or f, separated by slashes. */
void store_spender_read(struct str detail, struct claim_spender *spender);

#endif
