/*
 * captcha_spend — each solution of a captcha counts for one entry token.
 */
#ifndef SLUICE_ADMISSION_CAPTCHA_SPEND_H
#define SLUICE_ADMISSION_CAPTCHA_SPEND_H

#include <stdint.h>

#include "lib/admission/outcome.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/store/redis.h"

/** Who has solved a captcha, and what for. Text is borrowed. */
struct captcha_holder {
    struct str event;
    struct str member;
    struct str entry_token;
};

/** Uses up `solution`, a text that names it among those of its `kind` (a word), for `life_ms` ≥
 *  1. Returns OK; ALREADY where this holder has used it up before, TAKEN where another has;
 *  ADMISSION_UNAVAILABLE where Redis gave no answer. */
enum outcome captcha_spend(struct redis *redis, struct arena *arena, const char *kind,
                           struct str solution, const struct captcha_holder *holder,
                           int64_t life_ms);

/** The same answers, and changes nothing. */
enum outcome captcha_spent(struct redis *redis, struct arena *arena, const char *kind,
                           struct str solution, const struct captcha_holder *holder);

#endif
