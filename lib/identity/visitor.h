/*
 * visitor — anonymous visitors, identified by a signed cookie.
 * A visitor id is `v~` and 22 random characters: '~' is not allowed in member ids, so no member JWT
 * can name a visitor. The cookie's value is v1.<kid>.<id>.<issued, seconds>.<mac>.
 */
#ifndef SLUICE_IDENTITY_VISITOR_H
#define SLUICE_IDENTITY_VISITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/str.h"
#include "lib/identity/key_set.h"

enum {
    VISITOR_ID_TEXT = 24,
    VISITOR_COOKIE_TEXT = 128, /* longest cookie value */
    VISITOR_CLOCK_SKEW_S = 300 /* how far ahead of this host's clock a cookie may be issued */
};

/** Creates a visitor id: 24 characters, NUL-terminated. */
void visitor_id_new(char out[VISITOR_ID_TEXT + 1]);

/** True for the text of a visitor id. */
bool visitor_id_is(struct str text);

/** True for a member id or a visitor id: the ids that can be in a queue. */
bool visitor_or_member_is(struct str text);

/** Writes the cookie's value for `id` (a visitor id), NUL-terminated. Returns its length. `now_ms`
 *  is wall time, ms since 1970. */
size_t visitor_cookie_make(struct key_set *keys, struct str id, int64_t now_ms,
                           char out[VISITOR_COOKIE_TEXT + 1]);

/** Verifies a cookie's value: true, with `id` filled, if it is signed by the ring and at most
 *  `max_age_seconds` old (settings: visitor_ttl_seconds). */
bool visitor_cookie_verify(struct key_set *keys, struct str value, int64_t max_age_seconds,
                           int64_t now_ms, char id[VISITOR_ID_TEXT + 1]);

#endif
