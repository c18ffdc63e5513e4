/*
 * payment_settings — checks the settings payment_* against each other. Internal to lib/payments.
 */
#ifndef SLUICE_PAYMENTS_PAYMENT_SETTINGS_H
#define SLUICE_PAYMENTS_PAYMENT_SETTINGS_H

#include <stdbool.h>

#include "lib/payments/payment_provider.h"
#include "lib/settings/settings.h"

/** A worker that was delayed for longer between taking its turn to approve and the call does not make
 *  it: the turn may have passed on by now. */
enum { PAYMENT_SEND_WITHIN_MS = 3000 };

/** Checks what must be set for a provider, which is `local` if it is on this machine. Returns
 *  false, with one sentence in `error`, if something is missing or wrong. */
bool payment_settings_fit(const struct settings *settings, bool local,
                          char error[PAYMENT_PROVIDER_ERROR]);

/** True for a URL that a browser may be redirected to: https; for a provider on this machine also
 *  http, or a path of the same site. It must contain nothing that needs escaping in a header or a
 *  page. */
bool payment_redirect_is_good(struct str url, bool local);

#endif
