/*
 * captcha — checks the answer to the captcha. To be called only for a member who holds an entry
 * token, while it is CLAIMED: the provider may take captcha_timeout_ms for its verdict. No outcome
 * costs the place: the caller releases the claim.
 */
#ifndef SLUICE_ORDER_CAPTCHA_H
#define SLUICE_ORDER_CAPTCHA_H

#include "fcgi-app/http/request.h"
#include "fcgi-app/pool/services.h"
#include "lib/base/str.h"
#include "lib/captcha/altcha.h"

enum captcha_kind { CAPTCHA_NONE, CAPTCHA_ALTCHA, CAPTCHA_SITEVERIFY };

enum captcha_outcome {
    CAPTCHA_PASSED,   /* also for CAPTCHA_NONE */
    CAPTCHA_REFUSED,  /* wrong, expired, used before, another's, or missing */
    CAPTCHA_NO_ANSWER /* it cannot be checked at the moment: retry the same request */
};

/** The subject of a proof of work: `caller` at `event`, or at any event if that is empty. */
struct altcha_subject captcha_subject(struct arena *arena, struct str event, struct str caller);

/** Checks `solution` (the member `captcha` of the body, empty if missing) for the caller of
 *  `request` at `event`, a slug. A solution counts for one entry token: with the same token it
 *  passes again, so that a request may be repeated; with another it is refused. `*why` gets a
 *  sentence for the person, whatever the outcome. */
enum captcha_outcome captcha_check(const struct services *services, const struct request *request,
                                   struct str event, enum captcha_kind kind, struct str solution,
                                   const char **why);

#endif
