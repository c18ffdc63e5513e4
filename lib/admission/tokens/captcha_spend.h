/*
 * captcha_spend — makes each solution of a captcha count for one entry token only.
 */
#ifndef SLUICE_ADMISSION_CAPTCHA_SPEND_H
#define SLUICE_ADMISSION_CAPTCHA_SPEND_H

#include <stdint.h>

#include "lib/admission/outcome.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis.h"

/** Who has solved a captcha, and for what. Text is borrowed. */
struct captcha_holder {
    struct str event;
    struct str member;
    struct str entry_token;
};

/** Spends `solution`, a text that identifies it among those of its `kind` (a word), and remembers
 *  that for `life_ms` ≥ 1. OK; ALREADY if this holder spent it before, TAKEN if another did;
 *  ADMISSION_UNAVAILABLE if Redis did not answer. */
enum outcome captcha_spend(struct redis *redis, struct arena *arena, const char *kind,
                           struct str solution, const struct captcha_holder *holder,
                           int64_t life_ms);

/** Checks without spending; the same outcomes. */
enum outcome captcha_spent(struct redis *redis, struct arena *arena, const char *kind,
                           struct str solution, const struct captcha_holder *holder);

#endif
