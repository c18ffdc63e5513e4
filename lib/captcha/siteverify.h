/*
 * siteverify — asks the provider of a captcha whether its token is good. Turnstile, hCaptcha and
 * reCAPTCHA v2 speak one protocol: a form with secret and response, answered by JSON with success
 * and error-codes.
 */
#ifndef SLUICE_CAPTCHA_SITEVERIFY_H
#define SLUICE_CAPTCHA_SITEVERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/str.h"
#include "lib/http_client/http_client.h"
#include "lib/settings/settings.h"

enum {
    SITEVERIFY_TOKEN_MAX = 8192, /* hCaptcha's are the longest, some thousand characters */
    SITEVERIFY_TOKEN_LIFE_MS = 300000
};

enum siteverify_outcome {
    SITEVERIFY_PASSED,
    SITEVERIFY_REFUSED,
    SITEVERIFY_NO_ANSWER /* no verdict: it did not answer in time, or not so, or does not know our secret */
};

struct siteverify;

/** Prepares for the settings captcha_siteverify_url, captcha_secret_file, captcha_hostname,
 *  captcha_action and captcha_timeout_ms, which must live on. The secret is read again once its
 *  file changes. Returns NULL, with one sentence in `error`, where they cannot be used. */
struct siteverify *siteverify_open(const struct settings *settings, char error[HTTP_CLIENT_ERROR]);

/** NULL is allowed. */
void siteverify_close(struct siteverify *siteverify);

/** Asks about `token`, for captcha_timeout_ms at most. While the provider is silent it is asked
 *  only now and then, so that not every request waits for it. `*why` gets a sentence, borrowed
 *  until the next call. */
enum siteverify_outcome siteverify_ask(struct siteverify *siteverify, struct str token,
                                       const char **why);

/** False where the provider gives no verdict at the moment, on any token; asks it where that is
 *  not known yet. */
bool siteverify_answers(struct siteverify *siteverify);

#endif
