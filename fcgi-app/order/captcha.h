/*
 * captcha — is the answer to the captcha good? To be asked only for a member who holds an entry
 * token, while it is CLAIMED: the provider may take captcha_timeout_ms for its verdict. Whatever
 * comes out costs no place: the caller releases the claim.
 */
#ifndef SLUICE_ORDER_CAPTCHA_H
#define SLUICE_ORDER_CAPTCHA_H

#include "fcgi-app/http/request.h"
#include "fcgi-app/pool/services.h"
#include "lib/base/str.h"

enum captcha_kind { CAPTCHA_NONE, CAPTCHA_ALTCHA, CAPTCHA_SITEVERIFY };

enum captcha_outcome {
    CAPTCHA_PASSED,   /* also for CAPTCHA_NONE */
    CAPTCHA_REFUSED,  /* wrong, expired, used before, another's, or there is none */
    CAPTCHA_NO_ANSWER /* nobody can tell at the moment: try the same again */
};

/** Judges `solution` (the member `captcha` of the body, empty where it is missing) for the
 *  caller of `request` at `event`, a slug. A solution counts for one entry token: sent again
 *  with the same token it passes again, so that a request may be repeated, and with any other it
 *  is refused. `*why` gets a sentence for the person, whatever the outcome. */
enum captcha_outcome captcha_check(const struct services *services, const struct request *request,
                                   struct str event, enum captcha_kind kind, struct str solution,
                                   const char **why);

#endif
