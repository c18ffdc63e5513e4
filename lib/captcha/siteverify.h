/*
 * siteverify — verifies a captcha token with the captcha's provider. Turnstile, hCaptcha and
 * reCAPTCHA v2 speak the same protocol: a form with secret and response, answered by JSON with
 * success and error-codes. Calls block.
 */
#ifndef SLUICE_CAPTCHA_SITEVERIFY_H
#define SLUICE_CAPTCHA_SITEVERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/str.h"
#include "lib/http_client/http_client.h"
#include "lib/settings/settings.h"

enum {
    SITEVERIFY_TOKEN_MAX = 8192, /* hCaptcha's are the longest, a few thousand characters */
    SITEVERIFY_TOKEN_LIFE_MS = 300000
};

enum siteverify_outcome {
    SITEVERIFY_PASSED,
    SITEVERIFY_REFUSED,
    SITEVERIFY_NO_ANSWER /* no verdict: timeout, malformed response, or our secret is refused */
};

struct siteverify;

/** Opens a client for the settings captcha_siteverify_url, captcha_secret_file, captcha_hostname,
 *  captcha_action and captcha_timeout_ms (borrowed until siteverify_close()). The secret is
 *  reloaded when its file changes. Returns NULL, with one sentence in `error`, if the settings
 *  are unusable. */
struct siteverify *siteverify_open(const struct settings *settings, char error[HTTP_CLIENT_ERROR]);

/** NULL is allowed. */
void siteverify_close(struct siteverify *siteverify);

/** Verifies `token`, in at most captcha_timeout_ms. After three failures in a row the provider is
 *  called once in 5 s only; in between the outcome is SITEVERIFY_NO_ANSWER without a wait. `*why`
 *  gets one sentence, a constant. */
enum siteverify_outcome siteverify_ask(struct siteverify *siteverify, struct str token,
                                       const char **why);

/** False if the provider gives no verdict on any token at the moment; calls the provider to find
 *  out unless it is in that pause. */
bool siteverify_answers(struct siteverify *siteverify);

#endif
