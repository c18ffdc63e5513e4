/*
 * cookie — the cookies that Sluice sets, all with the same attributes: HttpOnly, Path=/ unless
 * stated otherwise, and under TLS (or with cookie_secure) Secure and the prefix __Host-, which
 * binds them to this host (RFC 6265bis). The setting cookie_same_site "none" is for sites shown in
 * another site's frame: SameSite=None; Partitioned, possible under TLS only.
 */
#ifndef SLUICE_HTTP_COOKIE_H
#define SLUICE_HTTP_COOKIE_H

#include <stdbool.h>
#include <stdint.h>

#include "fcgi-app/http/request.h"
#include "fcgi-app/http/response.h"
#include "fcgi-app/pool/services.h"

/** True if cookies are Secure and have the prefix. */
bool cookie_is_secure(const struct services *services, const struct request *request);

/** The value of the cookie `name` (without the prefix); empty if there is none. */
struct str cookie_read(const struct services *services, const struct request *request,
                       const char *name);

/** Whether `value` is acceptable; called with `context`. */
typedef bool cookie_judge(struct str value, void *context);

/** True if one of the cookies `name` (without the prefix) is acceptable: an old one of another path
 *  or of a sibling host may precede the right one. Checks a few at most. */
bool cookie_find(const struct services *services, const struct request *request, const char *name,
                 cookie_judge *judge, void *context);

/** The next cookie in `*rest`, which starts as request->cookies and is shortened, whose name
 *  (without the prefix) starts with `beginning`; the rest of its name is in `*remainder`. False at
 *  the end. */
bool cookie_next_name(const struct services *services, const struct request *request,
                      struct str *rest, struct str beginning, struct str *remainder);

/** Sets the cookie `name` (without the prefix) for `max_age_s` seconds; 0 deletes it. */
void cookie_set(const struct services *services, const struct request *request,
                struct response *response, const char *name, struct str value, int64_t max_age_s);

#endif
