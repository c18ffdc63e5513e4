/*
 * payment_settings — whether the settings payment_* fit together. Used inside of lib/payments only.
 */
#ifndef SLUICE_PAYMENTS_PAYMENT_SETTINGS_H
#define SLUICE_PAYMENTS_PAYMENT_SETTINGS_H

#include <stdbool.h>

#include "lib/payments/payment_provider.h"
#include "lib/settings/settings.h"

/** Judges what must be set for a provider, which is `local` where it is on this machine. Returns
 *  false, with one sentence in `error`, where something is missing or wrong. */
bool payment_settings_fit(const struct settings *settings, bool local,
                          char error[PAYMENT_PROVIDER_ERROR]);

/** True for an address that a browser may be sent to: https; where the provider is on this
 *  machine also http, or a path of the same site. Without anything that would have to be escaped
 *  in a header or a page. */
bool payment_redirect_is_good(struct str url, bool local);

#endif
